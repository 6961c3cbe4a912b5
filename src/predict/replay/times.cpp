#include "replay/times.hpp"

#include "replay/windowed_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

namespace kumihimo::replay {
namespace {

// Marks and operations of graphs. next: the mark of the calc of a rank that starts next; null: there is none. pop: it
// has started.
class OfGraphs {
 public:
  explicit OfGraphs(const ReplayProgram& program)
      : program_(program), next_(static_cast<std::size_t>(program.graphs.ranks()), 0) {}
  std::int32_t ranks() const { return program_.graphs.ranks(); }
  bool has_marks() const { return program_.has_marks(); }
  const Mark* next(std::int32_t rank) const {
    const auto& marks = program_.marks(rank);
    const std::size_t at = next_[static_cast<std::size_t>(rank)];
    return at < marks.size() ? &marks[at] : nullptr;
  }
  void pop(std::int32_t rank) { ++next_[static_cast<std::size_t>(rank)]; }
  std::uint64_t bytes_of(std::int32_t rank, std::uint32_t send) const {
    return program_.graphs.of(rank).operations[send].size;
  }

 private:
  const ReplayProgram& program_;
  std::vector<std::size_t> next_; // by rank
};

// The same of windows.
class OfWindows {
 public:
  explicit OfWindows(WindowedRun& run) : run_(run) {}
  std::int32_t ranks() const { return run_.operations().ranks(); }
  bool has_marks() const { return true; }
  const Mark* next(std::int32_t rank) const {
    const std::deque<Mark>& marks = run_.marks(rank);
    return marks.empty() ? nullptr : &marks.front();
  }
  void pop(std::int32_t rank) { run_.marks(rank).pop_front(); }
  std::uint64_t bytes_of(std::int32_t rank, std::uint32_t send) const { return run_.operations().of(rank, send).size; }

 private:
  WindowedRun& run_;
};

// Calcs of a rank start in the order of its marks.
template <class Of>
class Watch : public goal::Observer {
 public:
  Watch(Of of, const TimesOptions& options, Times& times)
      : program_(std::move(of)), options_(options), times_(times), ranks_(static_cast<std::size_t>(program_.ranks())),
        full_(options.most_intervals == 0) {
    times_.computing.resize(ranks_.size());
  }

  void busy(const goal::ProcessorWork& work) override {
    if (work.kind == goal::Kind::send) count_message(work);
    if (!program_.has_marks()) return busy_without_marks(work);
    const auto [rank, start, end] = std::tuple(work.rank, work.start, work.end);
    const Mark* const next = work.kind == goal::Kind::calc ? program_.next(rank) : nullptr;
    if (!next || next->operation != work.operation) return; // the overhead of a message, or a reduction of a collective
    OfRank& of = ranks_[static_cast<std::size_t>(rank)];
    const Mark mark = *next;
    program_.pop(rank);
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
      if (!program_.has_marks()) between(static_cast<std::int32_t>(r), times_.end[r]);
      sum(ranks_[r].sites, times_.sites, r);
      sum(ranks_[r].regions, times_.regions, r);
    }
    if (full_) times_.intervals.clear();
  }

 private:
  using Sums = std::vector<std::pair<std::int64_t, Time>>; // by place: how many, and their time
  struct OfRank {
    Time end = 0; // of its latest calc
    Sums sites, regions;
    std::int64_t last = -1; // its latest interval
  };

  void count_message(const goal::ProcessorWork& send) {
    ++times_.messages;
    times_.bytes += program_.bytes_of(send.rank, send.operation);
  }

  // Of a GOAL file: all calcs count, of all processors.
  void busy_without_marks(const goal::ProcessorWork& work) {
    if (work.kind != goal::Kind::calc || work.end == work.start) return;
    OfRank& of = ranks_[static_cast<std::size_t>(work.rank)];
    between(work.rank, work.start);
    if (work.end <= of.end) return;
    const Time from = of.end, length = work.end - from;
    add(of.regions, 0, length);
    note({work.rank, 0, false, from, work.end});
    times_.computing[static_cast<std::size_t>(work.rank)] += length - std::min(work.lost, length);
    of.end = work.end;
  }
  // No processor of the rank computes up to `until`.
  void between(std::int32_t rank, Time until) {
    OfRank& of = ranks_[static_cast<std::size_t>(rank)];
    if (until <= of.end) return;
    add(of.sites, 0, until - of.end);
    note({rank, 0, true, of.end, until});
    of.end = until;
  }

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
  void note(const PlaceInterval& interval) {
    if (full_ || interval.end == interval.start || interval.rank % options_.every != 0) return;
    OfRank& of = ranks_[static_cast<std::size_t>(interval.rank)];
    if (of.last >= 0) {
      PlaceInterval& before = times_.intervals[static_cast<std::size_t>(of.last)];
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

  Of program_;
  const TimesOptions& options_;
  Times& times_;
  std::vector<OfRank> ranks_;
  bool full_;
};

} // namespace

loggp::LogGopsParameters ideal_network() {
  loggp::LogGopsParameters parameters;
  parameters.S = std::numeric_limits<std::uint64_t>::max();
  return parameters;
}

namespace {

constexpr std::int64_t most_servers = std::int64_t{1} << 22; // of the models flow and packet: some GB

Status check_servers(const goal::Graphs& graphs) {
  const std::int64_t servers = std::int64_t{graphs.ranks()} * (graphs.cpus() + graphs.nics());
  if (servers <= most_servers) return Nothing{};
  return wrong_value(fmt::format("the ranks must have at most {} processors and interfaces together", most_servers),
                     servers, "take fewer ranks, or --model loggp");
}

// run(watch): the outcome of a model, which the watch observes.
template <class Of, class Run>
Result<Times> observed(Of of, const TimesOptions& options, Run&& run) {
  Times times;
  Watch watch(std::move(of), options, times);
  auto outcome = TRY(run(watch));
  times.total = outcome.last, times.last_rank = outcome.last_rank, times.end = outcome.end;
  times.operations = outcome.operations, times.lost_to_noise = outcome.lost_to_noise;
  watch.finish();
  if constexpr (std::is_same_v<decltype(outcome), packet::GraphOutcome>)
    times.packets = std::move(outcome);
  else if constexpr (std::is_same_v<decltype(outcome), fluid::FluidOutcome>)
    times.link_classes = std::move(outcome.classes);
  return times;
}

} // namespace

namespace {

Result<Times> windowed_times_of(const Windowed& program, const loggp::LogGopsParameters& parameters,
                                const TimesOptions& options) {
  const auto run = TRY(WindowedRun::make(program));
  return observed(OfWindows(*run), options, [&](goal::Observer& watch) {
    loggp::EngineOptions engine = options.engine;
    engine.observers.push_back(&watch);
    return loggp::run(run->operations(), parameters, engine);
  });
}

} // namespace

Result<Times> times_of(const ReplayProgram& program, const loggp::LogGopsParameters& parameters,
                       const TimesOptions& options) {
  if (program.windowed) return windowed_times_of(*program.windowed, parameters, options);
  return observed(OfGraphs(program), options, [&](goal::Observer& watch) {
    loggp::EngineOptions engine = options.engine;
    engine.observers.push_back(&watch);
    engine.loggopsim_order = !program.has_marks();
    return loggp::run(program.graphs, parameters, engine);
  });
}

Machine scaled(Machine machine, const NetworkFactors& factors) {
  const auto by = [](double factor, auto& quantity) { quantity.value.value *= factor; };
  NetworkNumbers& net = machine.network;
  by(factors.latency, net.hop_latency);
  by(factors.bandwidth, net.link_bandwidth);
  by(factors.bandwidth, net.engine_bandwidth);
  by(factors.bandwidth, net.injection_bandwidth);
  for (LinkClass& each : net.classes) {
    if (each.latency) by(factors.latency, *each.latency);
    if (each.bandwidth) by(factors.bandwidth, *each.bandwidth);
  }
  const auto by_if = [&](double factor, auto& quantity) {
    if (quantity) by(factor, *quantity);
  };
  SoftwareNumbers& software = machine.software;
  by_if(factors.bandwidth, net.exchange_bandwidth);
  by_if(factors.bandwidth, net.total_bandwidth);
  by_if(factors.bandwidth, software.lane_bandwidth);
  by_if(factors.bandwidth, software.eager_copy_rate);
  by(factors.cost, software.message_cost);
  by(factors.cost, software.relay_latency);
  by_if(factors.cost, software.processor_time);
  by_if(factors.cost, software.receive_cost);
  by_if(factors.cost, software.rendezvous_latency);
  if (machine.family != Family::single_node) return machine;
  NodeNumbers& node = machine.node; // all messages are copies
  by(factors.latency, node.shared_memory_latency);
  by(factors.bandwidth, node.shared_memory_bandwidth);
  by(factors.bandwidth, node.memory_bandwidth);
  for (LevelNumbers& each : node.levels) {
    by_if(factors.latency, each.latency);
    by_if(factors.bandwidth, each.bandwidth);
    by_if(factors.bandwidth, each.link_bandwidth);
  }
  if (!node.copies) return machine;
  NodeCopies& copies = *node.copies;
  by(factors.cost, copies.send_cost);
  for (auto* each : {&copies.copy_short, &copies.copy_core, &copies.copy_last_level, &copies.copy_memory,
                     &copies.stream_core, &copies.stream_last_level, &copies.stream_memory})
    by(factors.bandwidth, *each);
  return machine;
}

Result<Times> times_of(const ReplayProgram& program, const PacketNetwork& network, const TimesOptions& options) {
  if (Status s = check_servers(program.graphs); !s) return s.error();
  return observed(OfGraphs(program), options, [&](goal::Observer& watch) {
    const std::array<goal::Observer*, 1> observers{&watch};
    return packet::run(network.job, program.graphs, network.placement, network.options, observers);
  });
}

Result<Times> times_of(const ReplayProgram& program, const FluidNetwork& network, const TimesOptions& options) {
  if (Status s = check_servers(program.graphs); !s) return s.error();
  fluid::FluidOptions asked;
  asked.noise = network.noise, asked.tolerance = network.tolerance;
  return observed(OfGraphs(program), options, [&](goal::Observer& watch) {
    const std::array<goal::Observer*, 1> observers{&watch};
    return fluid::run(network.job, program.graphs, network.placement, asked, observers);
  });
}

Result<Times> ideal_network_times(const ReplayProgram& program, const FluidNetwork& network,
                                  const TimesOptions& options) {
  return observed(OfGraphs(program), options, [&](goal::Observer& watch) {
    const std::array<goal::Observer*, 1> observers{&watch};
    return packet::run_ideal(network.job, program.graphs, network.placement, network.noise, observers);
  });
}

} // namespace kumihimo::replay
