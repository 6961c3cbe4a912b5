// The recorder's files as the ranks of a recording: what the program computed between calls in place of times, and
// numbers of call sites, regions, communicators and lists that are the same on all ranks.
//
// Computing is the time between calls, less what the recorder itself took of it; where ranks shared processors, it is
// the time that the rank had one. Calls of which nothing is known but their times are left out.
#pragma once

#include "replay/recording.hpp"
#include "trace/file.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::replay {

// What the numbers in a rank's events stand for: places in the lists of RecordedNames.
struct NumbersOfRank {
  std::vector<std::uint32_t> sites, regions, communicators;
};
struct RecordedNames {
  struct Call {
    std::string name;           // empty: there is none of this number
    bool initialises = false;   // the program begins when it leaves
    bool sends_locally = false; // its send ends before it is received
  };
  std::array<Call, 256> calls;
  std::vector<std::string> sites; // the first one is empty: of unknown sites
  std::vector<std::string> regions;
  // Members by their ranks in the world; none: they are unknown, and messages go by a duplicate of the world. The first
  // one is the world.
  std::vector<std::optional<std::vector<std::int32_t>>> communicators;
  std::vector<NumbersOfRank> ranks;
};

class RecordedRanks : public RankReader {
 public:
  struct Opened {
    trace::File file;
    std::shared_ptr<const void> bytes; // which `file` points into
  };
  using Open = std::function<Result<Opened>(std::int32_t rank)>;

  // Error: numbers that stand for nothing.
  static Result<std::unique_ptr<RecordedRanks>> make(RecordedNames names, Open open);

  // Errors of the stream: those of `open`; a file of another rank or program; calls, sites, regions, communicators and
  // lists that there are not; threads beside the main one that send or receive; a rank whose program does not end.
  std::unique_ptr<EventStream> stream(std::int32_t rank, const AtOnce& at_once) override;
  const std::vector<std::vector<std::int32_t>>& communicators() const override { return communicators_; }
  const std::vector<std::vector<std::int64_t>>& parts() const override { return parts_; }

  // Of the ranks that were read, in the order in which they were met first.
  std::vector<std::string> sites() const;   // "MPI_Send at solver.c:12"
  std::vector<std::string> regions() const; // the first one is outside all others
  struct Rank {
    std::int64_t ns = 0, computing_ns = 0;  // from the end of MPI_Init to the beginning of MPI_Finalize
    std::uint64_t events = 0, left_out = 0; // after the buffer was full
    bool shared = false;                    // computing is the time that it had a processor
    std::vector<std::pair<std::uint8_t, std::int64_t>> silent; // calls that were left out, and how often
  };
  const std::vector<Rank>& ranks() const { return ranks_; }
  const std::string& name_of_call(std::uint8_t call) const { return names_.calls[call].name; }
  std::string name_of_site(std::uint32_t site) const;

 private:
  class Reading;
  RecordedRanks(RecordedNames names, Open open);
  Result<Opened> opened(std::int32_t rank);
  std::uint32_t number_of_site(std::uint8_t call, std::uint32_t site);
  std::uint32_t number_of_region(std::uint32_t region);
  std::uint32_t number_of_communicator(std::uint32_t communicator);
  std::uint32_t number_of_parts(std::span<const std::int64_t> parts);

  static constexpr std::uint32_t none = 0xFFFFFFFFU;
  RecordedNames names_;
  Open open_;
  std::vector<Rank> ranks_;
  std::map<std::pair<std::uint8_t, std::uint32_t>, std::uint32_t> numbers_of_sites_; // by call and place in the names
  std::vector<std::pair<std::uint8_t, std::uint32_t>> sites_;
  std::vector<std::uint32_t> numbers_of_regions_, regions_; // by place in the names, and the other way round
  std::vector<std::uint32_t> numbers_of_communicators_;
  std::vector<std::vector<std::int32_t>> communicators_;
  std::map<std::vector<std::int64_t>, std::uint32_t> numbers_of_parts_;
  std::vector<std::vector<std::int64_t>> parts_;
};

// The recording of these files, complete.
struct Recorded {
  Recording recording;
  std::vector<std::string> sites = {}, regions = {};
  std::int64_t ns = 0; // of the rank that took longest
  std::vector<std::int64_t> computing_ns = {};
  std::uint64_t events = 0, left_out = 0;
  bool shared = false;
  std::vector<std::pair<std::string, std::int64_t>> silent = {};
};
Result<Recorded> recorded(RecordedNames names, RecordedRanks::Open open);

} // namespace kumihimo::replay
