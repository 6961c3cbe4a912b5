#include "loggp/delays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace kumihimo::loggp {
namespace {

// When each piece of work ends: of each operation, and of the arrival of each message at its receiver.
class WorkEnds : public Observer {
 public:
  explicit WorkEnds(const goal::Graphs& graphs) {
    for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) of_rank_.emplace_back(graphs.of(rank).operations.size());
  }
  void busy(const ProcessorWork& work) override { of(work) = work.end; }
  Time& of(const ProcessorWork& work) {
    const bool arrives = work.kind == goal::Kind::receive;
    Pair& pair = of_rank_[static_cast<std::size_t>(arrives ? work.peer : work.rank)][work.operation];
    return arrives ? pair.arrival : pair.own;
  }

 private:
  struct Pair {
    Time own = 0, arrival = 0;
  };
  std::vector<std::vector<Pair>> of_rank_; // by operation
};

class Delays : public Observer {
 public:
  Delays(WorkEnds& quiet, std::int32_t ranks) : quiet_(quiet), of_rank_(static_cast<std::size_t>(ranks)) {}

  void busy(const ProcessorWork& work) override {
    of_rank_[static_cast<std::size_t>(work.rank)].push_back({quiet_.of(work), work.end});
  }
  void fill(DelayMap& map) {
    for (std::size_t rank = 0; rank < of_rank_.size(); ++rank) {
      std::vector<Piece>& pieces = of_rank_[rank];
      std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) { return a.quiet < b.quiet; });
      Time* const row = &map.latest[rank / static_cast<std::size_t>(map.group) * map.bins];
      std::size_t column = 0; // first that is not filled
      Time end = 0, delay = 0;
      const auto fill_until = [&](std::size_t until) {
        for (; column < until; ++column) row[column] = std::max(row[column], delay);
      };
      for (const Piece& piece : pieces) {
        fill_until(static_cast<std::size_t>(piece.quiet / map.bin));
        end = std::max(end, piece.end);
        delay = end - std::min(end, piece.quiet);
      }
      fill_until(map.bins);
    }
  }

 private:
  struct Piece {
    Time quiet = 0, end = 0;
  };
  WorkEnds& quiet_;
  std::vector<std::vector<Piece>> of_rank_;
};

std::uint64_t work_of(const goal::Graphs& graphs) {
  std::uint64_t sum = 0;
  for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) sum += graphs.of(rank).operations.size();
  return sum;
}

} // namespace

Result<DelayMap> delays(const goal::Graphs& graphs, const LogGopsParameters& parameters, const EngineOptions& options,
                        std::size_t groups, std::size_t bins) {
  assert(options.noise && groups > 0 && bins > 0);
  if (const std::uint64_t work = work_of(graphs); work > most_observed)
    return not_applicable(fmt::format("--page may show at most {} operations", most_observed), work,
                          "take fewer ranks");
  WorkEnds quiet(graphs);
  EngineOptions without = options;
  without.noise.reset();
  without.observers.push_back(&quiet);
  const LogGopsOutcome free = TRY(run(graphs, parameters, without));
  DelayMap map;
  const auto ranks = static_cast<std::size_t>(graphs.ranks());
  const std::size_t group = (ranks + groups - 1) / groups;
  map.group = static_cast<std::int32_t>(group);
  map.groups = (ranks + group - 1) / group;
  map.bin = free.last / bins + 1;
  map.bins = static_cast<std::size_t>(free.last / map.bin) + 1;
  map.latest.resize(map.groups * map.bins);
  Delays delays(quiet, graphs.ranks());
  EngineOptions with = options;
  with.observers.push_back(&delays);
  TRY(run(graphs, parameters, with));
  delays.fill(map);
  return map;
}

} // namespace kumihimo::loggp
