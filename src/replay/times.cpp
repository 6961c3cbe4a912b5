#include "replay/times.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

namespace kumihimo::replay {
namespace {

// Calcs of a rank start in the order of its marks.
class Watch : public loggp::Observer {
 public:
  Watch(const Program& program, const TimesOptions& options, Times& times)
      : program_(program), options_(options), times_(times), ranks_(static_cast<std::size_t>(program.graphs.ranks())),
        full_(options.most_intervals == 0) {
    times_.computing.resize(ranks_.size());
  }

  void busy(const loggp::Work& work) override {
    const auto [rank, start, end] = std::tuple(work.rank, work.start, work.end);
    OfRank& of = ranks_[static_cast<std::size_t>(rank)];
    const auto& marks = program_.marks(rank);
    if (of.next >= marks.size() || work.kind != goal::Kind::calc || marks[of.next].operation != work.operation)
      return; // the overhead of a message, or a reduction of a collective
    const Mark& mark = marks[of.next++];
    if (mark.site != Mark::no_site) {
      add(of.sites, mark.site, start - of.end);
      note({rank, mark.site, true, of.end, start});
    }
    add(of.regions, mark.region, end - start);
    note({rank, mark.region, false, start, end});
    times_.computing[static_cast<std::size_t>(rank)] += end - start - work.lost;
    of.end = end;
  }

  void finish() {
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      sum(ranks_[r].sites, times_.sites, r);
      sum(ranks_[r].regions, times_.regions, r);
    }
    if (full_) times_.intervals.clear();
  }

 private:
  using Sums = std::vector<std::pair<std::int64_t, Time>>; // by place: how many, and their time
  struct OfRank {
    std::size_t next = 0; // of its marks
    Time end = 0;         // of its latest calc
    Sums sites, regions;
    std::int64_t last = -1; // its latest interval
  };

  static void add(Sums& sums, std::uint32_t place, Time time) {
    if (place >= sums.size()) sums.resize(place + 1);
    ++sums[place].first, sums[place].second += time;
  }
  static void sum(const Sums& of_rank, std::vector<PlaceTimes>& all, std::size_t rank) {
    if (all.size() < of_rank.size()) all.resize(of_rank.size());
    for (std::size_t place = 0; place < of_rank.size(); ++place) {
      const auto& [count, time] = of_rank[place];
      if (count == 0) continue;
      PlaceTimes& to = all[place];
      to.count += count, to.time += time, ++to.ranks;
      if (to.ranks == 1 || time > to.longest_of_rank)
        to.longest_of_rank = time, to.longest_rank = static_cast<std::int32_t>(rank);
    }
  }
  void note(const Interval& interval) {
    if (full_ || interval.end == interval.start || interval.rank % options_.every != 0) return;
    OfRank& of = ranks_[static_cast<std::size_t>(interval.rank)];
    if (of.last >= 0) {
      Interval& before = times_.intervals[static_cast<std::size_t>(of.last)];
      const bool same = before.place == interval.place && before.is_call == interval.is_call;
      if (same || interval.end - before.end < options_.least_interval) {
        before.end = interval.end;
        return;
      }
    }
    full_ = static_cast<std::int64_t>(times_.intervals.size()) >= options_.most_intervals;
    of.last = static_cast<std::int64_t>(times_.intervals.size());
    times_.intervals.push_back(interval);
  }

  const Program& program_;
  const TimesOptions& options_;
  Times& times_;
  std::vector<OfRank> ranks_;
  bool full_;
};

} // namespace

loggp::Parameters ideal_network() {
  loggp::Parameters parameters;
  parameters.S = std::numeric_limits<std::uint64_t>::max();
  return parameters;
}

Result<Times> times_of(const Program& program, const loggp::Parameters& parameters, const TimesOptions& options) {
  Times times;
  Watch watch(program, options, times);
  loggp::EngineOptions engine = options.engine;
  engine.observers.push_back(&watch);
  auto outcome = TRY(loggp::run(program.graphs, parameters, engine));
  watch.finish();
  times.total = outcome.last, times.last_rank = outcome.last_rank, times.end = std::move(outcome.end);
  times.lost_to_noise = outcome.lost_to_noise;
  times.operations = outcome.operations, times.messages = outcome.messages, times.bytes = outcome.bytes;
  return times;
}

} // namespace kumihimo::replay
