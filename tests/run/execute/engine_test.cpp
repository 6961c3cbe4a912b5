// The engine over the loopback: results, windows, order of lanes, features of schedules, and errors.
#include "execute/engine.hpp"
#include "execute/run.hpp"
#include "execute/schedules.hpp"

#include <atomic>
#include <map>
#include <numeric>
#include <set>

namespace kumihimo {
namespace {

using namespace kumihimo::testing;
using execute::LoopbackRun;
using execute::TraceEvent;

Collective allreduce(std::int32_t ranks, std::int64_t count, DataType type = DataType::float64) {
  return make_collective(CollectiveKind::allreduce, ranks, count, type);
}

TEST(Engine, RingOfAnySizeCountSegmentsAndWindow) {
  for (const std::int32_t p : {1, 2, 3, 5, 8})
    for (const std::int64_t count : {0, 1, 3, 64, 257})
      for (const std::int64_t segments : {1, 4})
        for (const std::int64_t window : {1, 3}) {
          if (segments > std::max<std::int64_t>(1, count)) continue;
          const Collective c = allreduce(p, count, DataType::float32);
          LoopbackRun options;
          options.delays = true;
          options.seed = static_cast<std::uint64_t>(count + p);
          SCOPED_TRACE(::testing::Message() << p << " ranks, " << count << " elements, " << segments << "/" << window);
          expect_allreduce(c, run_vectors(ring(c, segments, window), options));
        }
}

TEST(Engine, SegmentsResolvedAsTheyBeginGiveTheSameBits) {
  const Collective c = allreduce(3, 30000);
  const Result<Ran> few = run_vectors(ring(c, 1000, 2)), many = run_vectors(ring(c, 1000, 7));
  expect_allreduce(c, few); // 1000 segments x 8 steps: beyond what is kept resolved
  expect_allreduce(c, many);
  EXPECT_EQ(few->outputs, many->outputs);
}

TEST(Engine, SegmentsInFlightStayWithinTheWindow) {
  const Collective c = allreduce(4, 400);
  for (const std::int64_t window : {1, 2, 5}) {
    LoopbackRun options;
    options.delays = options.trace = true;
    const Result<Ran> ran = run_vectors(ring(c, 20, window), options);
    expect_allreduce(c, ran);
    std::int64_t most = 0;
    for (const auto& trace : ran->report.traces) {
      std::int64_t in_flight = 0, begun = 0, complete = 0;
      for (const TraceEvent& e : trace) {
        if (e.what == TraceEvent::What::segment_begun) {
          EXPECT_EQ(e.segment, begun++); // in order
          most = std::max(most, ++in_flight);
        }
        if (e.what == TraceEvent::What::segment_complete) --in_flight, ++complete;
      }
      EXPECT_EQ(complete, 20);
    }
    EXPECT_EQ(most, window); // it is used, and not exceeded
  }
}

TEST(Engine, AfterWaitsForTheSegmentOrForAll) {
  const Collective c = allreduce(4, 400);
  for (const Scope scope : {Scope::segment, Scope::all}) {
    LoopbackRun options;
    options.trace = true;
    const Result<Ran> ran = run_vectors(chain_allreduce(c, 10, 2, scope), options);
    expect_allreduce(c, ran);
    bool overlapped = false;
    for (const auto& trace : ran->report.traces) {
      std::map<std::int64_t, bool> reduced;
      for (const TraceEvent& e : trace) {
        if (e.what == TraceEvent::What::segment_complete && e.lane == LaneId{0}) reduced[e.segment] = true;
        if (e.what != TraceEvent::What::segment_begun || e.lane != LaneId{1}) continue;
        EXPECT_TRUE(reduced[e.segment]);
        overlapped |= reduced.size() < 10;
        if (scope == Scope::all) {
          EXPECT_EQ(reduced.size(), 10u);
        }
      }
    }
    EXPECT_EQ(overlapped, scope == Scope::segment);
  }
}

TEST(Engine, IterationsInFlightOvertakeAndMessagesToOneself) {
  constexpr std::int32_t p = 6;
  constexpr std::int64_t n = 5;
  for (const std::int64_t in_flight : {1, 2, 6}) {
    const Collective c = make_collective(CollectiveKind::alltoall, p, n, DataType::int32);
    std::vector<std::vector<std::int32_t>> inputs(p), outputs(p);
    std::vector<execute::Buffers> buffers;
    for (std::int32_t r = 0; r < p; ++r) {
      for (std::int32_t b = 0; b < p; ++b)
        for (std::int32_t i = 0; i < n; ++i) inputs[r].push_back(r * 1000 + b * 10 + i);
      outputs[r].resize(inputs[r].size());
      buffers.push_back({inputs[r].data(), outputs[r].data()});
    }
    LoopbackRun options;
    options.delays = options.trace = true;
    const auto report = execute::run_loopback(alltoall(c, in_flight), buffers, options);
    ASSERT_TRUE(report.ok()) << report.error().sentence();
    for (std::int32_t r = 0; r < p; ++r)
      for (std::int32_t b = 0; b < p; ++b)
        for (std::int32_t i = 0; i < n; ++i) EXPECT_EQ(outputs[r][b * n + i], b * 1000 + r * 10 + i);
    std::set<std::int32_t> open; // rounds with messages
    std::size_t most = 0;
    for (const TraceEvent& e : report->traces[0]) {
      if (e.what == TraceEvent::What::step_started) open.insert(e.round);
      if (e.what == TraceEvent::What::round_complete) open.erase(e.round);
      most = std::max(most, open.size());
    }
    EXPECT_EQ(most, static_cast<std::size_t>(in_flight));
    EXPECT_EQ(report->totals[0].messages, 2 * p);
    EXPECT_EQ(report->totals[0].bytes_sent, p * n * 4);
  }
}

// Two strided runs a message: rank 0 sends the odd parts and then the even ones; the receiver puts them in place.
TEST(Engine, RunListsArePackedOrGathered) {
  const Collective c = make_collective(CollectiveKind::bcast, 2, 103, DataType::int16);
  const auto every_other = [](std::int64_t first) {
    return Extent{Layout::vector, 8, 0, {RunList{first, 1, {2, 4}, {}}}};
  };
  const Schedule s = schedule_of(c, 3, [&](ProgramBuilder& program, Rank rank) {
    LaneBuilder lane(LaneId{0}, "halves", 2);
    for (const std::int64_t first : {1, 0}) {
      if (rank.value == 0) lane.step(send(1, out[every_other(first)]));
      if (rank.value == 1) lane.step(receive(0, out[every_other(first)]));
    }
    program.add(std::move(lane));
  });
  for (const bool gathers : {false, true})
    for (const bool delays : {false, true}) {
      LoopbackRun options;
      options.gathers = gathers;
      options.delays = delays;
      const Result<Ran> ran = run_vectors(s, options);
      ASSERT_TRUE(ran.ok()) << ran.error().sentence();
      EXPECT_NE(ran->inputs[1], ran->inputs[0]);
      EXPECT_EQ(ran->outputs[1], ran->inputs[0]);
    }
}

// Runs of unequal lengths on the two sides of a reduction, own operand in scratch, arriving operand on the left.
TEST(Engine, ReceiveReduceScattersAndKeepsTheSide) {
  const Collective c = make_collective(CollectiveKind::reduce, 2, 50, DataType::float64);
  const Extent cyclic{Layout::vector, 5, 0, {RunList{3, 2, {}, {}}, RunList{0, 3, {}, {}}}};
  const Schedule s = schedule_of(c, 1, [&](ProgramBuilder& program, Rank rank) {
    LaneBuilder lane(LaneId{0}, "reduce", 1);
    if (rank.value == 1) lane.step(send(0, in[cyclic]));
    if (rank.value == 0) {
      const Array aside = program.scratch(LaneId{0}, 1, 1);
      lane.step(copy(aside[cyclic], in[cyclic]));
      lane.step(receive_reduce(1, aside[cyclic], out[cyclic], Arriving::left));
    }
    program.add(std::move(lane));
  });
  std::vector<double> a(50), b(50), result(50);
  std::iota(a.begin(), a.end(), 1.5);
  std::iota(b.begin(), b.end(), 100.25);
  const transport::Reduction minus{nullptr,
                                   [](const void*, const void* left, const void* right, void* target, std::int64_t n) {
                                     for (std::int64_t i = 0; i < n; ++i)
                                       static_cast<double*>(target)[i] =
                                           static_cast<const double*>(left)[i] - static_cast<const double*>(right)[i];
                                   },
                                   nullptr};
  for (const std::uint64_t seed : {1, 2, 3}) {
    LoopbackRun options;
    options.delays = true;
    options.seed = seed;
    const auto ran = execute::run_loopback(
        s, std::vector<execute::Buffers>{{a.data(), result.data()}, {b.data(), nullptr}}, options, minus);
    ASSERT_TRUE(ran.ok()) << ran.error().sentence();
    for (std::size_t i = 0; i < 50; ++i) EXPECT_EQ(result[i], b[i] - a[i]);
  }
}

TEST(Engine, CopiesTheInputAsideWhereTheScheduleIsNotSafeInPlace) {
  Collective c = allreduce(3, 40);
  c.in_place = true;
  // Each rank overwrites its output with its neighbour's input before it sends its own: correct only from a copy.
  Schedule s = schedule_of(c, 2, [](ProgramBuilder& program, Rank rank) {
    const std::int64_t r = rank.value;
    LaneBuilder lane(LaneId{0}, "around", 1);
    const Array kept = program.scratch(LaneId{0}, 1, 1, 2);
    for (const std::int64_t k : {1, 2}) {
      lane.round({send((r + k) % 3, in[whole()]), receive((r + 3 - k) % 3, kept.at(k - 1, whole()))});
      lane.step(copy(out[whole()], kept.at(k - 1, whole())));
    }
    const auto operand = [&](std::int64_t q) { return q == r ? in[whole()] : kept.at((r + 3 - q) % 3 - 1, whole()); };
    lane.step(reduce(out[whole()], operand(0), operand(1)));
    lane.step(reduce(out[whole()], out[whole()], operand(2)));
    program.add(std::move(lane));
  });
  s.claims.in_place_safe = false;
  expect_allreduce(c, run_vectors(s));
  s.claims.in_place_safe = true; // a false claim: the result shows it
  const Result<Ran> wrong = run_vectors(s);
  ASSERT_TRUE(wrong.ok());
  EXPECT_NE(golden::wrong_reduction(c.type, c.operation, wrong->inputs, wrong->outputs[0]), std::nullopt);
}

// Dissemination barrier, two rounds for three ranks: nobody leaves before all have come.
TEST(Engine, SignalsMakeABarrier) {
  Collective c;
  c.kind = CollectiveKind::barrier;
  c.ranks = 3;
  const Schedule s = schedule_of(c, 1, [](ProgramBuilder& program, Rank rank) {
    LaneBuilder lane(LaneId{0}, "barrier", 1);
    for (const std::int64_t distance : {1, 2}) {
      Round round;
      round.steps = {signal((rank.value + distance) % 3), wait_signal((rank.value + 3 - distance) % 3)};
      lane.round(std::move(round));
    }
    program.add(std::move(lane));
  });
  transport::Loopback loopback(3, LoopbackRun{});
  std::atomic<int> entered = 0;
  const Status status = transport::run_ranks(loopback, 3, [&](Rank rank, transport::Transport& transport) -> Status {
    const auto program = execute::compile(s, rank);
    if (!program) return program.error();
    auto execution = execute::Execution::prepare(*program, transport);
    if (!execution) return execution.error();
    for (int turn = 1; turn <= 20; ++turn) {
      ++entered;
      if (Status done = (*execution)->run({}, {}); !done) return done;
      if (entered < 3 * turn) return failed("a rank left the barrier early");
    }
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

TEST(Engine, OffloadGivesAllTheCombinedSources) {
  const Collective c = allreduce(5, 33);
  const Schedule s = schedule_of(c, 4, [](ProgramBuilder& program, Rank) {
    LaneBuilder lane(LaneId{0}, "engine", 2);
    lane.step(offload(out[whole()], in[whole()]));
    program.add(std::move(lane));
  });
  expect_allreduce(c, run_vectors(s));
  LoopbackRun without;
  without.offloads = false;
  const Result<Ran> refused = run_vectors(s, without);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().kind, Error::Kind::not_applicable);
}

// Lane 0 receives into shared scratch, lane 1 forwards from it afterwards; more segments than slots.
TEST(Engine, SharedScratchIsReusedOnlyAfterItsReaders) {
  const Collective c = make_collective(CollectiveKind::bcast, 3, 240, DataType::int32);
  const Schedule s = schedule_of(c, 24, [](ProgramBuilder& program, Rank rank) {
    LaneBuilder first(LaneId{0}, "in", 2), second(LaneId{1}, "on", 1);
    const Array shared = program.scratch({LaneId{0}, true, Layout::vector, 1, 1, 1});
    second.after({LaneId{0}}, Scope::segment);
    if (rank.value == 0) first.step(send(1, out[whole()]));
    if (rank.value == 1) {
      first.step(receive(0, shared[whole()]));
      second.step(send(2, shared[whole()]));
      second.step(copy(out[whole()], shared[whole()]));
    }
    if (rank.value == 2) second.step(receive(1, out[whole()]));
    program.add(std::move(first));
    program.add(std::move(second));
  });
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    LoopbackRun options;
    options.delays = true;
    options.seed = seed;
    const Result<Ran> ran = run_vectors(s, options);
    ASSERT_TRUE(ran.ok()) << ran.error().sentence();
    for (const golden::Buffer& output : ran->outputs) EXPECT_EQ(output, ran->inputs[0]);
  }
}

TEST(Engine, OneExecutionRunsAgainWithOtherBuffers) {
  const Collective c = allreduce(3, 10);
  const Schedule s = chain_allreduce(c, 2, 1, Scope::segment);
  LoopbackRun options;
  options.delays = true;
  transport::Loopback loopback(3, options);
  const Status status = transport::run_ranks(loopback, 3, [&](Rank rank, transport::Transport& transport) -> Status {
    const auto program = execute::compile(s, rank);
    if (!program) return program.error();
    auto execution = execute::Execution::prepare(*program, transport);
    if (!execution) return execution.error();
    const auto reduction = execute::find_reduction(c.type, c.operation);
    for (int turn = 0; turn < 10; ++turn) {
      const std::vector<double> mine(10, rank.value + turn);
      std::vector<double> sum(10);
      if (Status done = (*execution)->run({mine.data(), sum.data()}, *reduction); !done) return done;
      if (sum != std::vector<double>(10, 3.0 * turn + 3)) return failed("the sum of this turn is wrong");
    }
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

TEST(Engine, NumbersEachStreamByItself) {
  transport::InstanceNumbers here, there;
  std::set<std::uint64_t> given;
  std::vector<std::uint64_t> blocking, nonblocking;
  for (int i = 0; i < 5; ++i) blocking.push_back(here.next(transport::Stream::blocking));
  for (int i = 0; i < 5; ++i) nonblocking.push_back(here.next(transport::Stream::nonblocking));
  for (int i = 0; i < 5; ++i) { // in another order
    EXPECT_EQ(there.next(transport::Stream::nonblocking), nonblocking[static_cast<std::size_t>(i)]);
    EXPECT_EQ(there.next(transport::Stream::blocking), blocking[static_cast<std::size_t>(i)]);
  }
  given.insert(blocking.begin(), blocking.end());
  given.insert(nonblocking.begin(), nonblocking.end());
  EXPECT_EQ(given.size(), 10U);
}

// One of each, of the same program, in another order on each rank.
TEST(Engine, StreamsDoNotDependOnEachOthersOrder) {
  const Collective c = allreduce(3, 10);
  const Schedule s = chain_allreduce(c, 2, 1, Scope::segment);
  LoopbackRun options;
  options.delays = true;
  transport::Loopback loopback(3, options);
  const Status status = transport::run_ranks(loopback, 3, [&](Rank rank, transport::Transport& transport) -> Status {
    const auto program = execute::compile(s, rank);
    if (!program) return program.error();
    auto blocking = execute::Execution::prepare(*program, transport);
    auto begun = execute::Execution::prepare(*program, transport);
    if (!blocking) return blocking.error();
    if (!begun) return begun.error();
    if (Status reserved = (*begun)->reserve(); !reserved) return reserved;
    const auto reduction = execute::find_reduction(c.type, c.operation);
    for (int turn = 0; turn < 10; ++turn) {
      const std::vector<double> mine(10, rank.value + turn), other(10, 100.0 * rank.value);
      std::vector<double> sum(10), sum_of_others(10);
      const auto begin = [&] {
        (*begun)->start({other.data(), sum_of_others.data()}, *reduction, transport::Stream::nonblocking);
      };
      if (rank.value % 2 == 0) begin();
      if (Status done = (*blocking)->run({mine.data(), sum.data()}, *reduction); !done) return done;
      if (rank.value % 2 != 0) begin();
      for (;;) {
        const Result<bool> done = (*begun)->advance();
        if (!done) return done.error();
        if (*done) break;
        const auto moved = transport.progress();
        if (moved == transport::Transport::Progress::failed) return transport.error();
        if (moved == transport::Transport::Progress::nothing) transport.idle();
      }
      if (sum != std::vector<double>(10, 3.0 * turn + 3)) return failed("the sum of this turn is wrong");
      if (sum_of_others != std::vector<double>(10, 300.0)) return failed("the other sum is wrong");
    }
    return Nothing{};
  });
  EXPECT_TRUE(status.ok()) << status.error().sentence();
}

} // namespace
} // namespace kumihimo
