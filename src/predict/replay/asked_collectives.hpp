// Finds the collectives of a recording from what each rank asks for, a rank at a time: of a collective there is what
// all ranks together ask for, and what each asks for only where they differ.
#pragma once

#include "replay/source.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::replay {

class AskedCollectives {
 public:
  using Parts = std::function<const std::vector<std::int64_t>&(std::uint32_t number)>;
  using NameOf = std::function<std::string(std::int32_t rank, std::span<const Event> events, std::size_t event,
                                           std::size_t before)>;
  // `parts`: of Collective::parts. `name_of`: for errors.
  AskedCollectives(const Source& source, Parts parts, NameOf name_of)
      : source_(source), parts_(std::move(parts)), name_of_(std::move(name_of)) {}

  // Ranks in their order, of which so many events came before. Error: they disagree.
  Status add(std::int32_t rank, std::span<const Event> events, std::size_t before);
  // Sequences are by communicator. Error: some ranks lack collectives that others have.
  struct Found {
    std::vector<RecordedCollective> calls;
    std::vector<std::vector<std::uint32_t>> sequences;
  };
  Result<Found> finish();

 private:
  struct OfEach { // by rank in the communicator
    std::vector<std::int64_t> lengths;
    std::vector<std::uint32_t> parts;
  };
  struct Asked {
    std::int64_t sum = 0, most = 0;
    std::int64_t length = -1, at_root = -1; // of all but the root of a scatter; of it. -1: none is known yet
    std::int32_t first_rank = 0;            // of the world
    std::int32_t root = 0;
    std::uint8_t row = 0;
    std::unique_ptr<OfEach> each; // null: all lengths are equal, and no rank has a list of parts
  };
  struct Communicator {
    std::vector<Asked> asked;          // in the order of the calls
    std::vector<std::uint32_t> counts; // by rank in it
  };
  void add(Asked& asked, std::uint32_t communicator, std::int32_t own, const trace::CollectiveEvent& what);
  RecordedCollective call_of(std::uint32_t communicator, const Asked& asked) const;
  Error lacking(std::uint32_t communicator) const;

  const Source& source_;
  Parts parts_;
  NameOf name_of_;
  std::vector<Communicator> communicators_;
};

} // namespace kumihimo::replay
