// What an MPI library costs beside the wire (ADR 47, 48): small schedules whose times are found with pencil and paper,
// in both models. 1 MB at 1 GB/s is 1 ms.
#include "support.hpp"

namespace kumihimo::simulate_test {
namespace {

class LibraryCosts : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(LibraryCosts);

TEST_P(LibraryCosts, AMessageThatIsNotEagerWaitsForTheRendezvous) {
  constexpr double rendezvous = 7e-6;
  Machine m = plain("8");
  m.software.rendezvous_latency = Quantity<Seconds>{{rendezvous}};
  m.software.eager_bytes = Quantity<Bytes>{{1'000'000 - 1}};
  EXPECT_NEAR(time(one_message(0, 3, 8), m), cost + 1e-3 + 3 * hop + relay + rendezvous, 1e-12);
  m.software.eager_bytes = Quantity<Bytes>{{1'000'000}};
  EXPECT_NEAR(time(one_message(0, 3, 8), m), cost + 1e-3 + 3 * hop + relay, 1e-12) << "as long as it may be";
}

// Four segments of 0.25 MB: the rendezvous of each is done while the one before it flows.
TEST_P(LibraryCosts, ALaneDoesNotWaitForTheRendezvousOfItsMessages) {
  constexpr double rendezvous = 7e-6;
  const Schedule s = by_hand(2, million, 4, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "segments", 4);
    if (r == 0) lane.step(send(1, out[whole()]));
    if (r == 1) lane.step(receive(0, out[whole()]));
    p.add(std::move(lane));
  });
  Machine m = plain("2");
  const double without = time(s, m);
  m.software.rendezvous_latency = Quantity<Seconds>{{rendezvous}};
  m.software.eager_bytes = Quantity<Bytes>{{1000}};
  EXPECT_NEAR(time(s, m), without + rendezvous, 1e-9);
}

// Rank 1 asks for the short message once it has the long one. Early, it is there by then.
TEST_P(LibraryCosts, AnEarlyMessageDoesNotWaitForItsReceiver) {
  const Schedule s = by_hand(8, 2 * million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "late", 1);
    if (r == 2) lane.step(send(1, out[part(0, 2)]));
    if (r == 0) lane.step(send(1, out[part(1, 2)]));
    if (r == 1) lane.step(receive(2, out[part(0, 2)]));
    if (r == 1) lane.step(receive(0, out[part(1, 2)]));
    p.add(std::move(lane));
  });
  const double one = cost + 1e-3 + hop + relay;
  Machine m = plain("8");
  EXPECT_NEAR(time(s, m), 2 * one, 1e-12);
  m.software.unexpected_bytes = Quantity<Bytes>{{1'000'000 - 1}};
  EXPECT_NEAR(time(s, m), 2 * one, 1e-12) << "a byte too long";
  m.software.unexpected_bytes = Quantity<Bytes>{{1'000'000}};
  EXPECT_NEAR(time(s, m), one, 1e-12);
}

// A ring of 8 whose last message goes over 7 links: each turn waits for it, unless messages leave early. Then the 7
// turns of a block take its 7 messages, at most one of them the long one.
TEST_P(LibraryCosts, EarlyMessagesPassARingAtTheirMeanPace) {
  const Schedule s = by_hand(8, 8, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "ring", 1);
    const auto block = [](Expression i) { return part(mod(std::move(i), 8), 8); };
    lane.loop(7, [&](Variable i) {
      return exchange((r + 1) % 8, out[block(r - i)], (r + 7) % 8, into(out[block(r - i - 1)]));
    });
    p.add(std::move(lane));
  });
  Machine m = plain("8m"); // from 7 to 0 it is 7 hops
  const double near = cost + 8e-9 + hop + relay, far = cost + 8e-9 + 7 * hop + relay;
  EXPECT_NEAR(time(s, m), 7 * far, 1e-6);
  m.software.unexpected_bytes = Quantity<Bytes>{{8}};
  // The flow model adds the mean over all ranks to the first turn, which is the long one for rank 0.
  EXPECT_NEAR(time(s, m), 6 * near + far, GetParam() == ScheduleModel::flow ? 5e-6 : 1e-12);
}

TEST_P(LibraryCosts, ASumThatDoesNotFitInTheCacheIsSlower) {
  const Schedule s = by_hand(2, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "sum", 1);
    if (r == 0) lane.step(send(1, in[whole()]));
    if (r == 1) lane.step(receive_reduce(0, in[whole()], out[whole()]));
    p.add(std::move(lane));
  });
  const double arrived = cost + 1e-3 + hop + relay;
  Machine m = plain("2");
  m.node.reduction_rate.value = {2e9};
  m.node.reduction_rate_uncached = Quantity<BytesPerSecond>{{0.5e9}};
  m.node.cached_bytes = Quantity<Bytes>{{1'000'000}};
  EXPECT_NEAR(time(s, m), arrived + 0.5e-3, 1e-12) << "as long as it may be";
  m.node.cached_bytes = Quantity<Bytes>{{1'000'000 - 1}};
  EXPECT_NEAR(time(s, m), arrived + 2e-3, 1e-12);
}

// Each of two lanes sums up 1 MB, at 0.5 GB/s: the thread does one such sum at a time.
TEST_P(LibraryCosts, SumsOfTwoLanesThatDoNotFitInTheCacheShareTheThread) {
  const Schedule s = by_hand(3, 2 * million, 1, [](std::int32_t r, ProgramBuilder& p) {
    for (std::int32_t l = 0; l < 2; ++l) {
      LaneBuilder lane(LaneId{l}, "sum", 1);
      if (r == 2 * l) lane.step(send(1, in[part(l, 2)]));
      if (r == 1) lane.step(receive_reduce(2 * l, in[part(l, 2)], out[part(l, 2)]));
      p.add(std::move(lane));
    }
  });
  const double arrived = cost + 1e-3 + hop + relay;
  Machine m = plain("3m");
  m.node.reduction_rate.value = {2e9};
  EXPECT_NEAR(time(s, m), arrived + 1e-3, 1e-9);
  m.node.reduction_rate_uncached = Quantity<BytesPerSecond>{{0.5e9}};
  m.node.cached_bytes = Quantity<Bytes>{{1000}};
  EXPECT_NEAR(time(s, m), arrived + 4e-3, 1e-9);
  m.node.memory_bandwidth.value = {1.2e9}; // each byte of a sum passes the memory three times, however slow the sum
  EXPECT_NEAR(time(s, m), arrived + 5e-3, 1e-9);
}

TEST_P(LibraryCosts, AnExchangeOfLongMessagesSharesTheRateOfThePair) {
  const auto both_ways = [](std::int32_t back) {
    return by_hand(8, 2 * million, 1, [=](std::int32_t r, ProgramBuilder& p) {
      LaneBuilder lane(LaneId{0}, "two", 1);
      Round round;
      if (r == 0) round.steps.push_back(send(1, out[part(0, 2)]));
      if (r == 1) round.steps.push_back(receive(0, out[part(0, 2)]));
      if (r == 1) round.steps.push_back(send(back, out[part(1, 2)]));
      if (r == back) round.steps.push_back(receive(1, out[part(1, 2)]));
      if (!round.steps.empty()) lane.round(std::move(round));
      p.add(std::move(lane));
    });
  };
  const double one = cost + 1e-3 + hop + relay;
  Machine m = plain("8");
  m.network.exchange_bandwidth = Quantity<BytesPerSecond>{{1e9}};
  m.network.exchange_bytes = Quantity<Bytes>{{1'000'000}};
  EXPECT_NEAR(time(both_ways(0), m), one, 1e-12) << "as long as it may be";
  m.network.exchange_bytes = Quantity<Bytes>{{1'000'000 - 1}};
  EXPECT_NEAR(time(both_ways(0), m), one + 1e-3, 1e-12);
  EXPECT_NEAR(time(both_ways(2), m), one, 1e-12) << "of another pair";
}

TEST_P(LibraryCosts, AllLinksTogetherShareARate) {
  const Schedule all = by_hand(8, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "ring", 1);
    lane.round(exchange((r + 1) % 8, in[whole()], (r + 7) % 8, into(out[whole()])));
    p.add(std::move(lane));
  });
  Machine m = plain("8");
  m.network.total_bandwidth = Quantity<BytesPerSecond>{{8e9}};
  EXPECT_NEAR(time(all, m), cost + 1e-3 + hop + relay, 1e-9) << "as much as the links that are used";
  m.network.total_bandwidth = Quantity<BytesPerSecond>{{4e9}};
  EXPECT_NEAR(time(all, m), cost + 2e-3 + hop + relay, 1e-9);
  m.network.total_bandwidth = Quantity<BytesPerSecond>{{1e9}};
  EXPECT_NEAR(time(one_message(0, 3, 8), m), cost + 2e-3 + 3 * hop + relay, 1e-9) << "its ends as much as a link";
}

// Only single messages tell: the flow model has none.
TEST_P(LibraryCosts, AnIdleLinkPassesABurstAtOnceAndIsBusyBehindIt) {
  constexpr double packet = 9e-6; // 9,000 bytes
  const double passed = GetParam() == ScheduleModel::exact ? packet : 0;
  Machine m = plain("8");
  m.network.burst_bytes = Quantity<Bytes>{{9000}};
  EXPECT_NEAR(time(one_message(0, 3, 8), m), cost + 1e-3 - passed + 3 * hop + relay, 1e-12);
  const auto two = [](std::int32_t lanes) {
    return by_hand(8, 2250, 1, [=](std::int32_t r, ProgramBuilder& p) {
      for (std::int32_t l = 0; l < lanes; ++l) {
        LaneBuilder lane(LaneId{l}, "packets", 1);
        for (std::int32_t half = l; half < (lanes == 2 ? l + 1 : 2); ++half) {
          if (r == 0) lane.step(send(1, out[part(half, 2)]));
          if (r == 1) lane.step(receive(0, out[part(half, 2)]));
        }
        p.add(std::move(lane));
      }
    });
  };
  EXPECT_NEAR(time(two(1), m), 2 * (cost + packet - passed + hop + relay), 1e-12) << "idle again behind the first one";
  EXPECT_NEAR(time(two(2), m), cost + 2 * packet + hop + relay, 1e-12) << "the second one waits for the first's time";
}

TEST_P(LibraryCosts, SingleMessagesShareTheProcessorsOfAllNodes) {
  constexpr double each = 10e-6;
  const Schedule all = by_hand(8, 1, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "ring", 1);
    lane.round(exchange((r + 1) % 8, in[whole()], (r + 7) % 8, into(out[whole()])));
    p.add(std::move(lane));
  });
  Machine m = plain("8");
  const double without = time(all, m), far = time(one_message(0, 3, 8), m);
  m.software.processors = Quantity<std::int64_t>{2};
  m.software.processor_time = Quantity<Seconds>{{each}};
  if (GetParam() == ScheduleModel::flow) {
    EXPECT_EQ(time(all, m), without);
  } else {
    EXPECT_NEAR(time(all, m), 2 * each * 8 / 2 + 8e-9 + hop, 1e-7) << "of both ends, by two processors";
    EXPECT_NEAR(time(one_message(0, 3, 8), m), far - cost - relay + 2 * each, 1e-12);
  }
}

// 1 MB of input: its copy, which lies in the output of allreduce and in scratch of reduce_scatter, and its own scratch.
TEST_P(LibraryCosts, ALibraryCopiesTheInputOfReductionsAndGetsScratch) {
  Machine m = plain("8");
  const auto of = [&](CollectiveKind kind, std::int64_t bytes) {
    const Job job(m);
    return predicted(built(algorithm("ring", kind), job, bytes), job, GetParam()).seconds.value;
  };
  const double allreduce = of(CollectiveKind::allreduce, 1'000'000), allgather = of(CollectiveKind::allgather, 125'000);
  const double reduce_scatter = of(CollectiveKind::reduce_scatter, 125'000);
  m.software.input_copy_rate = Quantity<BytesPerSecond>{{1e9}};
  EXPECT_NEAR(of(CollectiveKind::allreduce, 1'000'000), allreduce + 1e-3, 1e-12);
  EXPECT_NEAR(of(CollectiveKind::reduce_scatter, 125'000), reduce_scatter + 1e-3, 1e-12);
  EXPECT_NEAR(of(CollectiveKind::allgather, 125'000), allgather, 1e-12) << "nothing to reduce";
  m.node.scratch_rate = Quantity<BytesPerSecond>{{1e9}};
  m.node.scratch_kept = Quantity<Bytes>{{1'250'000}}; // the copy, and two blocks of its own
  EXPECT_NEAR(of(CollectiveKind::reduce_scatter, 125'000), reduce_scatter + 1e-3, 1e-12) << "as much as it keeps";
  m.node.scratch_kept = Quantity<Bytes>{{1'250'000 - 1}};
  EXPECT_NEAR(of(CollectiveKind::reduce_scatter, 125'000), reduce_scatter + 1e-3 + 1.25e-3, 1e-12);
  EXPECT_NEAR(of(CollectiveKind::allreduce, 1'000'000), allreduce + 1e-3, 1e-12) << "the output has room for the copy";
}

// Of 8 ranks Bruck's alltoall unpacks a message of four blocks that lie apart, and turns the array of eight at the end,
// one by one. Its other copies have one or two pieces, and pack nothing.
TEST_P(LibraryCosts, BlocksThatLieApartArePacked) {
  Machine m = plain("8");
  const auto of = [&](CollectiveKind kind) { return time(built(algorithm("bruck", kind), m, 8), m); };
  const double without = of(CollectiveKind::alltoall), gathered = of(CollectiveKind::allgather);
  m.software.pack_cost = Quantity<Seconds>{{1e-3}};
  m.software.pack_piece_cost = Quantity<Seconds>{{1e-5}};
  EXPECT_NEAR(of(CollectiveKind::alltoall), without + 2e-3 + (4 + 8) * 1e-5, 1e-12);
  EXPECT_NEAR(of(CollectiveKind::allgather), gathered, 1e-12) << "its turn is two plain copies";
}

// What the processor tells the engine holds a million bytes, and then one less.
TEST_P(LibraryCosts, AnInlineMessageIsNotFetched) {
  Machine m = plain("2");
  const double without = time(one_message(0, 1, 2), m);
  m.software.fetch_latency = Quantity<Seconds>{{5e-7}};
  m.software.inline_bytes = Quantity<Bytes>{{1'000'000}};
  EXPECT_NEAR(time(one_message(0, 1, 2), m), without, 1e-12);
  m.software.inline_bytes = Quantity<Bytes>{{1'000'000 - 1}};
  EXPECT_NEAR(time(one_message(0, 1, 2), m), without + 5e-7, 1e-12);
}

// Node 5 takes four times as long for its copy and its scratch, which all wait for.
TEST_P(LibraryCosts, ASlowNodeIsSlowInTheCallToo) {
  Machine m = plain("8");
  m.slow_nodes.push_back({NodeId{5}, 0.25});
  const auto of = [&] { return time(built(algorithm("ring", CollectiveKind::reduce_scatter), m, 125'000), m); };
  const double without = of();
  m.software.input_copy_rate = Quantity<BytesPerSecond>{{1e9}};
  EXPECT_NEAR(of(), without + 4e-3, 1e-12);
  m.node.scratch_rate = Quantity<BytesPerSecond>{{1e9}};
  m.node.scratch_kept = Quantity<Bytes>{{1000}};
  EXPECT_NEAR(of(), without + 4e-3 + 4 * 1.25e-3, 1e-12);
}

// 1 to 7 send 125 kB each to 0, all at once: 1 ms at the engine that receives them.
Schedule to_the_root(std::int32_t lanes) {
  return by_hand(8, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    for (std::int32_t l = 0; l < lanes; ++l) {
      LaneBuilder lane(LaneId{l}, "star", 1);
      if (r > 0 && r % lanes == l) lane.step(send(0, out[part(r, 8)]));
      std::vector<Step> arrivals;
      for (std::int32_t from = 1; from < 8; ++from)
        if (from % lanes == l) arrivals.push_back(receive(from, out[part(from, 8)]));
      if (r == 0) lane.round(std::move(arrivals));
      p.add(std::move(lane));
    }
  });
}

TEST_P(LibraryCosts, AReceivingLaneTakesOneMessageAfterAnother) {
  constexpr double taking = 3e-6;
  Machine m = plain("2x2x2");
  const double without = time(to_the_root(1), m);
  m.software.receive_cost = Quantity<Seconds>{{taking}};
  EXPECT_NEAR(time(one_message(0, 1, 8), m), cost + 1e-3 + hop + relay + taking, 1e-12);
  const double with = time(to_the_root(1), m);
  EXPECT_GT(with, without + 2 * taking);
  EXPECT_LT(with, without + 7 * taking + 1e-9);
}

TEST_P(LibraryCosts, ASumCostsBesideItsBytes) {
  const Schedule s = by_hand(2, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "sum", 1);
    if (r == 0) lane.step(send(1, acc[whole()]));
    if (r == 1) lane.step(receive_reduce(0, acc[whole()], Arriving::left));
    p.add(std::move(lane));
  });
  Machine m = plain("2");
  EXPECT_NEAR(time(s, m), cost + 1e-3 + hop + relay + 0.25e-3, 1e-12);
  m.node.reduction_cost = Quantity<Seconds>{{2e-6}};
  EXPECT_NEAR(time(s, m), cost + 1e-3 + hop + relay + 0.25e-3 + 2e-6, 1e-12);
}

// The receive is posted 0.5 ms after the send, which a message of 1 MB needs for a half of its bytes.
TEST_P(LibraryCosts, AnEagerMessageIsOnItsWayBeforeItsReceive) {
  const Schedule s = by_hand(8, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "late", 1);
    if (r == 0) lane.step(send(1, out[whole()]));
    if (r == 1) lane.step(compute(Work{0.5e-3, 0, 0}));
    if (r == 1) lane.step(receive(0, out[whole()]));
    p.add(std::move(lane));
  });
  Machine m = plain("8");
  EXPECT_NEAR(time(s, m), 0.5e-3 + cost + 1e-3 + hop + relay, 1e-9) << "the machine knows no eager messages";
  m.software.eager_bytes = Quantity<Bytes>{{1'000'000}};
  m.software.rendezvous_latency = Quantity<Seconds>{{0}};
  EXPECT_NEAR(time(s, m), cost + 1e-3 + hop + relay, 1e-9);
  m.software.eager_bytes = Quantity<Bytes>{{1000}};
  EXPECT_NEAR(time(s, m), 0.5e-3 + cost + 1e-3 + hop + relay, 1e-9) << "this one is not eager";
}

// Rank 0 sends a block to each of the others, which ask for it after so many seconds.
Schedule from_the_root(std::int32_t ranks, std::int64_t elements, double seconds) {
  return by_hand(ranks, ranks * elements, 1, [=](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "star", 1);
    Round sends;
    for (std::int32_t to = 1; r == 0 && to < ranks; ++to) sends.steps.push_back(send(to, out[part(to, ranks)]));
    if (r == 0) lane.round(std::move(sends.steps));
    if (r > 0 && seconds > 0) lane.step(compute(Work{seconds, 0, 0}));
    if (r > 0) lane.step(receive(0, out[part(r, ranks)]));
    p.add(std::move(lane));
  });
}

// 63 messages of 32 KiB: the processor of rank 0 issues and copies one after another, however late they are asked for.
TEST_P(LibraryCosts, LateReceivesSaveNoTimeOfTheSender) {
  const Machine m = described("fugaku", "4x4x4");
  constexpr std::int64_t bytes = 32 << 10;
  const double at_once = time(from_the_root(64, bytes / 8, 0), m);
  const double issued = 63 * (m.software.message_cost.value.value + bytes / m.software.eager_copy_rate->value.value);
  EXPECT_GE(at_once, issued);
  for (const double late : {1e-6, 10e-6, 100e-6, 1e-3}) {
    const double then = time(from_the_root(64, bytes / 8, late), m);
    EXPECT_GE(then, std::max(late, issued)) << late;
    EXPECT_GE(then, at_once * (1 - 1e-9)) << late;
    EXPECT_LE(then, at_once + late + 1e-6) << late;
  }
}

// 8 messages of 1 MB between one pair of neighbours: their link carries one after another.
TEST_P(LibraryCosts, LateReceivesSaveNoTimeOfALink) {
  const auto messages = [](double seconds) {
    return by_hand(2, 8 * million, 1, [=](std::int32_t r, ProgramBuilder& p) {
      LaneBuilder lane(LaneId{0}, "pair", 1);
      std::vector<Step> steps;
      for (std::int32_t i = 0; i < 8; ++i)
        steps.push_back(r == 0 ? send(1, out[part(i, 8)]) : receive(0, out[part(i, 8)]));
      if (r == 1 && seconds > 0) lane.step(compute(Work{seconds, 0, 0}));
      lane.round(std::move(steps));
      p.add(std::move(lane));
    });
  };
  Machine m = plain("2m");
  m.software.eager_bytes = Quantity<Bytes>{{1'000'000}};
  m.software.rendezvous_latency = Quantity<Seconds>{{0}};
  EXPECT_NEAR(time(messages(0), m), 8 * (cost + 1e-3) + hop + relay, 1e-9);
  EXPECT_NEAR(time(messages(5e-3), m), 8 * (cost + 1e-3) + hop + relay, 1e-9) << "they flow while it computes";
  EXPECT_NEAR(time(messages(20e-3), m), 20e-3, 1e-9) << "all are there";
}

// 1 and 2 of a row get 1 MB each over the link 0 -> 1; rank 2 asks for its own 0.5 ms later.
TEST_P(LibraryCosts, AnEagerMessageSharesALinkWithThoseOfEarlierReceives) {
  const Schedule s = by_hand(3, 2 * million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "two", 1);
    if (r == 0) lane.round({send(1, out[part(0, 2)]), send(2, out[part(1, 2)])});
    if (r == 1) lane.step(receive(0, out[part(0, 2)]));
    if (r == 2) lane.step(compute(Work{0.5e-3, 0, 0}));
    if (r == 2) lane.step(receive(0, out[part(1, 2)]));
    p.add(std::move(lane));
  });
  Machine m = plain("3m");
  m.software.eager_bytes = Quantity<Bytes>{{1'000'000}};
  m.software.rendezvous_latency = Quantity<Seconds>{{0}};
  EXPECT_NEAR(time(s, m), cost + 2e-3 + 2 * hop + relay, 1e-9);
}

TEST_P(LibraryCosts, BothEndsCopyAnEagerMessage) {
  Machine m = plain("8");
  m.software.eager_copy_rate = Quantity<BytesPerSecond>{{5e9}};
  EXPECT_NEAR(time(one_message(0, 1, 8), m), cost + 1e-3 + hop + relay + 2 * 0.2e-3, 1e-12) << "all are eager";
  m.software.eager_bytes = Quantity<Bytes>{{1000}};
  m.software.rendezvous_latency = Quantity<Seconds>{{7e-6}};
  EXPECT_NEAR(time(one_message(0, 1, 8), m), cost + 1e-3 + hop + relay + 7e-6, 1e-12) << "no copy";
}

TEST_P(LibraryCosts, WithoutConcurrentLanesOneEngineReceives) {
  Machine m = plain("2x2x2");
  m.software.lane_bandwidth = Quantity<BytesPerSecond>{{0.5e9}};
  EXPECT_NEAR(time(one_message(0, 1, 8), m), cost + 2e-3 + hop + relay, 1e-12);
  EXPECT_NEAR(time(to_the_root(1), m), cost + 7 * 0.25e-3 + hop + relay, 5e-6);
  EXPECT_LT(time(to_the_root(2), m), cost + 0.9e-3) << "concurrent lanes have all engines";
}

// Two lanes at once between two ranks, each with half of the elements.
Schedule lanes(std::int64_t elements, bool summed = false) {
  return by_hand(2, elements, 1, [summed](std::int32_t r, ProgramBuilder& p) {
    for (std::int32_t l = 0; l < 2; ++l) {
      LaneBuilder lane(LaneId{l}, "half", 1);
      if (r == 0) lane.step(send(1, out[part(l, 2)]));
      if (r == 1 && !summed) lane.step(receive(0, out[part(l, 2)]));
      if (r == 1 && summed) lane.step(receive_reduce(0, in[part(l, 2)], out[part(l, 2)]));
      p.add(std::move(lane));
    }
  });
}

// 0.5 MB each over one link: puts.
TEST_P(LibraryCosts, ConcurrentLanesPutTheirMessages) {
  Machine m = plain("2m");
  const double without = time(lanes(million), m), single = time(one_message(0, 1, 2), m);
  m.software.put_setup = Quantity<Seconds>{{20e-6}};
  EXPECT_NEAR(time(lanes(million), m), without + 20e-6, 1e-12);
  EXPECT_NEAR(time(one_message(0, 1, 2), m), single, 1e-12) << "one lane sends messages";
  m.software.eager_bytes = Quantity<Bytes>{{1000}};
  m.software.rendezvous_latency = Quantity<Seconds>{{7e-6}};
  m.software.eager_copy_rate = Quantity<BytesPerSecond>{{1e6}};
  EXPECT_NEAR(time(lanes(million), m), without + 20e-6, 1e-12) << "puts have neither rendezvous nor copies";
  m.software.receive_cost = Quantity<Seconds>{{3e-6}};
  EXPECT_NEAR(time(lanes(million), m), without + 20e-6 + 3e-6, 1e-12);
  const double before = time(lanes(8), m);
  m.software.short_put_bytes = Quantity<Bytes>{{64}};
  m.software.short_put_latency = Quantity<Seconds>{{2e-6}};
  EXPECT_NEAR(time(lanes(8), m), before + 2e-6, 1e-12);
  EXPECT_NEAR(time(lanes(million), m), without + 20e-6 + 3e-6, 1e-12) << "this one is long";
}

// A polled flag in place of receive_cost; puts of a call that sums up are ready later.
TEST_P(LibraryCosts, PutsHaveALatencyOfTheirOwn) {
  Machine m = plain("2m");
  m.software.put_setup = Quantity<Seconds>{{20e-6}};
  m.software.receive_cost = Quantity<Seconds>{{3e-6}};
  const double before = time(lanes(million), m), single = time(one_message(0, 1, 2), m);
  m.software.put_latency = Quantity<Seconds>{{1e-6}};
  EXPECT_NEAR(time(lanes(million), m), before - 2e-6, 1e-12);
  EXPECT_NEAR(time(one_message(0, 1, 2), m), single, 1e-12) << "messages are taken as before";
  const double summed = time(lanes(million, true), m);
  m.software.put_sum_latency = Quantity<Seconds>{{5e-6}};
  EXPECT_NEAR(time(lanes(million), m), before - 2e-6, 1e-12) << "nothing is summed up";
  EXPECT_NEAR(time(lanes(million, true), m), summed + 5e-6, 1e-12);
}

// Once a call, of what is longer.
TEST_P(LibraryCosts, LongBuffersOfPutsAreRegistered) {
  Machine m = plain("2m");
  m.software.put_setup = Quantity<Seconds>{{20e-6}};
  const double single = time(one_message(0, 1, 2), m), longer = time(lanes(1000), m), shorter = time(lanes(999), m);
  m.software.register_bytes = Quantity<Bytes>{{7999}}; // of doubles
  m.software.register_latency = Quantity<Seconds>{{7e-6}};
  EXPECT_NEAR(time(lanes(1000), m), longer + 7e-6, 1e-12);
  EXPECT_NEAR(time(lanes(999), m), shorter, 1e-12);
  EXPECT_NEAR(time(one_message(0, 1, 2), m), single, 1e-12) << "no put";
}

// Two trees that sum up and then hand out: the second phase begins later.
TEST_P(LibraryCosts, LaterPhasesOfPutsTakeATurn) {
  Machine cube = plain("2mx2mx2m");
  cube.software.put_setup = Quantity<Seconds>{{20e-6}};
  const Schedule s = built(algorithm("trinaryx3"), cube, 800);
  const Schedule reduce = built(algorithm("trinaryx3", CollectiveKind::reduce), cube, 800);
  const double both = time(s, cube), one = time(reduce, cube);
  cube.software.put_turn_latency = Quantity<Seconds>{{4e-6}};
  EXPECT_NEAR(time(s, cube), both + 4e-6, 1e-12);
  EXPECT_NEAR(time(reduce, cube), one, 1e-12) << "one phase";
}

// Both ranks are on one node of the box: no address leaves it.
TEST_P(LibraryCosts, RanksOfOneNodeExchangeNoAddresses) {
  const Schedule s = lanes(million);
  Machine m = plain("2m");
  const double without = time(s, *Job::with_ranks_per_node(m, 2)), apart = time(s, m);
  m.software.put_setup = Quantity<Seconds>{{20e-6}};
  EXPECT_NEAR(time(s, *Job::with_ranks_per_node(m, 2)), without, 1e-12);
  EXPECT_NEAR(time(s, m), apart + 20e-6, 1e-12);
}

TEST_P(LibraryCosts, ANetworkHasNoMorePairsThanItCanNumber) {
  Machine m = plain("40000000");
  m.network.exchange_bandwidth = Quantity<BytesPerSecond>{{1e9}};
  m.network.exchange_bytes = Quantity<Bytes>{{1000}};
  const auto refused = asked(one_message(0, 1, 2), m);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().sentence().find("at most 2^31 links, nodes, ranks and pairs"), std::string::npos)
      << refused.error().sentence();
}

} // namespace
} // namespace kumihimo::simulate_test
