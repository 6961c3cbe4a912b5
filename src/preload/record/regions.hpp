// Regions that the program marks, by MPI_Pcontrol(1, "name") and MPI_Pcontrol(-1, "name"), or by kumihimo.h.
#pragma once

#include "record/counters.hpp"

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::record {

struct RegionCounts {
  std::int64_t passages = 0, ns = 0, longest_ns = 0, mpi_ns = 0, unended = 0;
  Counters::Values counters{};
};

class Regions {
 public:
  using Identity = std::pair<std::string, std::string>; // name and expectation

  explicit Regions(const Counters& counters) : counters_(counters) {}
  // Called on one thread. `mpi_ns`: its time in MPI until now. `meant`: surely a region, so a missing end is reported.
  void begin(std::string name, std::string expectation, std::int64_t mpi_ns, bool meant = true);
  void end(const std::string& name, std::int64_t mpi_ns);
  std::map<Identity, RegionCounts> all();
  // Names of regions that ended without a beginning.
  std::vector<std::string> unbegun();

 private:
  struct Open {
    Identity identity;
    std::int64_t begun_ns = 0, mpi_ns = 0;
    Counters::Values counters{};
    bool meant = true;
  };
  static std::vector<Open>& open(); // of this thread, the innermost last

  const Counters& counters_;
  std::mutex mutex_;
  std::map<Identity, RegionCounts> regions_;
  std::vector<std::string> unbegun_;
};

// The text at an address that may be random, because MPI_Pcontrol may have been called without it. Nothing: no text of
// at most 200 printable ASCII characters.
std::optional<std::string> text_at(const void* address);

} // namespace kumihimo::record
