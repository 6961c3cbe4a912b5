#include "loggp/delays.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

namespace kumihimo::loggp {
namespace {

// The ends of each rank's work so far: the n-th number is when n pieces of work have ended, if they end in their order.
class Ends : public Observer {
 public:
  explicit Ends(std::int32_t ranks) : of_rank_(static_cast<std::size_t>(ranks)) {}

  void busy(const Work& work) override {
    std::vector<Time>& of = of_rank_[static_cast<std::size_t>(work.rank)];
    of.push_back(of.empty() ? work.end : std::max(of.back(), work.end));
  }
  const std::vector<Time>& of(std::size_t rank) const { return of_rank_[rank]; }

 private:
  std::vector<std::vector<Time>> of_rank_;
};

class Delays : public Observer {
 public:
  Delays(const Ends& quiet, std::int32_t ranks, DelayMap& map)
      : quiet_(quiet), map_(map), done_(static_cast<std::size_t>(ranks)), end_(static_cast<std::size_t>(ranks)),
        delay_(static_cast<std::size_t>(ranks)), column_(static_cast<std::size_t>(ranks)) {}

  void busy(const Work& work) override {
    const auto rank = static_cast<std::size_t>(work.rank);
    const Time without = quiet_.of(rank)[done_[rank]++];
    end_[rank] = std::max(end_[rank], work.end);
    fill(rank, std::min(map_.bins, static_cast<std::size_t>(without / map_.bin)));
    delay_[rank] = end_[rank] - std::min(end_[rank], without);
  }
  void finish() {
    for (std::size_t rank = 0; rank < done_.size(); ++rank) fill(rank, map_.bins);
  }

 private:
  // The bins in which the rank's delay is what it has been: up to one in which it changes.
  void fill(std::size_t rank, std::size_t until) {
    Time* const row = &map_.latest[rank / static_cast<std::size_t>(map_.group) * map_.bins];
    for (; column_[rank] < until; ++column_[rank]) row[column_[rank]] = std::max(row[column_[rank]], delay_[rank]);
  }

  const Ends& quiet_;
  DelayMap& map_;
  std::vector<std::size_t> done_; // by rank: pieces of work
  std::vector<Time> end_, delay_;
  std::vector<std::size_t> column_; // first that is not filled
};

std::uint64_t work_of(const goal::Graphs& graphs) {
  std::uint64_t sum = 0;
  for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) sum += graphs.of(rank).operations.size();
  return sum;
}

} // namespace

Result<DelayMap> delays(const goal::Graphs& graphs, const Parameters& parameters, const EngineOptions& options,
                        std::size_t groups, std::size_t bins) {
  assert(options.noise && groups > 0 && bins > 0);
  if (const std::uint64_t work = work_of(graphs); work > most_observed)
    return not_applicable(fmt::format("the picture of noise may have at most {} operations", most_observed), work,
                          "take fewer ranks");
  Ends quiet(graphs.ranks());
  EngineOptions without = options;
  without.noise.reset();
  without.observers.push_back(&quiet);
  const Outcome free = TRY(run(graphs, parameters, without));
  DelayMap map;
  const auto ranks = static_cast<std::size_t>(graphs.ranks());
  const std::size_t group = (ranks + groups - 1) / groups;
  map.group = static_cast<std::int32_t>(group);
  map.groups = (ranks + group - 1) / group;
  map.bin = free.last / bins + 1;
  map.bins = static_cast<std::size_t>(free.last / map.bin) + 1;
  map.latest.resize(map.groups * map.bins);
  Delays delays(quiet, graphs.ranks(), map);
  EngineOptions with = options;
  with.observers.push_back(&delays);
  TRY(run(graphs, parameters, with));
  delays.finish();
  return map;
}

} // namespace kumihimo::loggp
