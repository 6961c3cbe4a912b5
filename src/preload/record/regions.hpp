// Regions that the program marks, by MPI_Pcontrol(1, "name") and MPI_Pcontrol(-1, "name"), or by kumihimo.h.
#pragma once

#include "base/hash.hpp"
#include "record/counters.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::record {

// Durations of the passages of a region, in their order: of all, or beyond `most` of one in each `stride` that follow
// one another. Which of these it is follows no period, and is the same on all ranks with as many passages.
class PassageSample {
 public:
  static constexpr std::size_t most = 256;

  void add(std::int64_t ns) {
    const std::uint64_t group = count_ / stride_;
    if (count_++ % stride_ != mixed(0, group) % stride_) return;
    kept_.push_back(ns);
    if (kept_.size() == most) halve();
  }
  std::int64_t stride() const { return static_cast<std::int64_t>(stride_); }
  const std::vector<std::int64_t>& kept() const { return kept_; }

 private:
  void halve() {
    for (std::size_t i = 0; i < most / 2; ++i) kept_[i] = kept_[2 * i + mixed(1, count_ + i) % 2];
    kept_.resize(most / 2);
    stride_ *= 2;
  }

  std::uint64_t count_ = 0, stride_ = 1;
  std::vector<std::int64_t> kept_;
};

// Where a program marks the beginning of a region: a line of a file, or else the address to which the call returns.
struct RegionPlace {
  const char* file = nullptr; // of the program, which keeps it at least until the region ends
  int line = 0;
  std::uintptr_t address = 0;
};

struct RegionCounts {
  std::int64_t passages = 0, ns = 0, longest_ns = 0, mpi_ns = 0, unended = 0;
  std::int64_t waiting_ns = 0; // in the sampled blocking collectives, times the calls that each sample represents
  Counters::Values counters{};
  PassageSample sample;
  std::string file;
  int line = 0;
  std::uintptr_t address = 0;
};

class Regions {
 public:
  using Identity = std::pair<std::string, std::string>; // name and expectation

  explicit Regions(const Counters& counters) : counters_(counters) {}
  // Called on one thread. `mpi_ns`: its time in MPI until now. `meant`: surely a region, so a missing end is reported.
  void begin(std::string name, std::string expectation, std::int64_t mpi_ns, const RegionPlace& place = {},
             bool meant = true);
  void end(const std::string& name, std::int64_t mpi_ns);
  // The regions in which this thread is. Their counts stay where they are; WaitTime adds to `waiting_ns`.
  std::vector<RegionCounts*> around() const;
  // Those that ended, or should have.
  std::map<Identity, RegionCounts> all();
  // Names of regions that ended without a beginning.
  std::vector<std::string> unbegun();

 private:
  struct Open {
    Identity identity;
    RegionCounts* counts = nullptr;
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
