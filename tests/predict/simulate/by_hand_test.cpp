// Small schedules whose times are found with pencil and paper; both models must agree with it. 1 MB at 1 GB/s is 1 ms.
#include "support.hpp"

namespace kumihimo::simulate_test {
namespace {

class ByHand : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(ByHand);

TEST_P(ByHand, AMessageCostsItsIssueItsBytesItsHopsAndARelay) {
  const Machine m = plain("8");
  EXPECT_NEAR(time(one_message(0, 1, 8), m), cost + 1e-3 + hop + relay, 1e-12);
  EXPECT_NEAR(time(one_message(0, 3, 8), m), cost + 1e-3 + 3 * hop + relay, 1e-12);
  EXPECT_NEAR(time(one_message(0, 7, 8), m), cost + 1e-3 + hop + relay, 1e-12) << "round the ring";
}

TEST_P(ByHand, OneTransferNeverExceedsOneEngine) {
  Machine m = plain("8");
  m.network.link_bandwidth.value = {100e9};
  EXPECT_NEAR(time(one_message(0, 1, 8), m), cost + 0.5e-3 + hop + relay, 1e-12);
}

// 0 -> 2 and 1 -> 2 of a row: both cross the link 1 -> 2, each at half its rate.
TEST_P(ByHand, TwoMessagesOnALinkHaveHalfOfItEach) {
  const Schedule s = by_hand(8, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "two", 1);
    if (r < 2) lane.step(send(2, out[part(r, 2)]));
    if (r == 2) lane.round({receive(0, out[part(0, 2)]), receive(1, out[part(1, 2)])});
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, plain("8")), cost + 1e-3 + 2 * hop + relay, 2e-6);
}

// A node sends 1 MB each to its six neighbours: 6 GB/s of links, 4 GB/s of engines.
TEST_P(ByHand, TheEnginesOfANodeAreShared) {
  const Machine m = plain("3x3x3");
  const std::vector<std::int32_t> peers{1, 2, 3, 6, 9, 18};
  const Schedule s = by_hand(27, 6 * million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    for (std::int32_t l = 0; l < 6; ++l) {
      LaneBuilder lane(LaneId{l}, "star", 1);
      if (r == 0) lane.step(send(peers[l], out[part(l, 6)]));
      if (r == peers[l]) lane.step(receive(0, out[part(l, 6)]));
      p.add(std::move(lane));
    }
  });
  EXPECT_NEAR(time(s, m), cost + 1.5e-3 + hop + relay, 1e-12);
}

// As fair shares the two would end together, and the second's work could only start then.
TEST_P(ByHand, MessagesOfALaneBetweenTwoRanksAreServedInOrder) {
  const Schedule s = by_hand(4, 2 * million, 2, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "chain", 2);
    if (r > 0) lane.step(receive(r - 1, out[whole()]));
    if (r < 3) lane.step(send(r + 1, out[whole()]));
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, plain("4m")), 3 * (cost + 1e-3 + hop + relay) + 1 * (cost + 1e-3), 1e-12);
}

TEST_P(ByHand, ALaneIssuesItsMessagesOneAfterAnother) {
  const Schedule s = by_hand(27, 3 * million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "star", 1);
    if (r == 0) lane.round({send(1, out[part(0, 3)]), send(3, out[part(1, 3)]), send(9, out[part(2, 3)])});
    if (r == 1) lane.step(receive(0, out[part(0, 3)]));
    if (r == 3) lane.step(receive(0, out[part(1, 3)]));
    if (r == 9) lane.step(receive(0, out[part(2, 3)]));
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, plain("3x3x3")), 3 * cost + 1e-3 + hop + relay, 1e-12);
}

// Segments too short to fill the wire: what the sender can issue is the pace.
TEST_P(ByHand, ALaneIssuesTheMessagesOfAllItsSegmentsOneAfterAnother) {
  constexpr std::int64_t segments = 50;
  const Schedule s = by_hand(27, segments * 125, segments, [](std::int32_t r, ProgramBuilder& p) { // 1 kB in 1 us
    LaneBuilder lane(LaneId{0}, "star", segments);
    if (r == 0) lane.round({send(1, out[whole()]), send(3, out[whole()]), send(9, out[whole()])});
    if (r == 1 || r == 3 || r == 9) lane.step(receive(0, out[whole()]));
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, plain("3x3x3")), segments * 3 * cost + 1e-6 + hop + relay, 1e-12);
}

TEST_P(ByHand, AllMessagesOfASegmentPassTheQueueBetweenTwoRanks) {
  constexpr std::int64_t segments = 50;
  const Schedule s = by_hand(4, segments * 250, segments, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "twice", segments);
    for (std::int64_t half = 0; half < 2; ++half) {
      if (r == 0) lane.step(send(1, out[part(half, 2)]));
      if (r == 1) lane.step(receive(0, out[part(half, 2)]));
    }
    p.add(std::move(lane));
  });
  // The flow model has the first segment's second message wait for the first's arrival.
  EXPECT_NEAR(time(s, plain("4")), segments * 2 * (cost + 1e-6) + hop + relay, hop + relay + 1e-12);
}

TEST_P(ByHand, ReductionsOfTwoLanesShareTheThread) {
  Machine m = plain("3x3");
  m.node.reduction_rate.value = {1e9};
  const Schedule s = by_hand(9, 2 * million, 1, [](std::int32_t r, ProgramBuilder& p) {
    for (std::int32_t l = 0; l < 2; ++l) {
      LaneBuilder lane(LaneId{l}, "reduce", 1);
      if (r == 1 + 2 * l) lane.step(send(0, out[part(l, 2)]));
      if (r == 0) lane.step(receive_reduce(1 + 2 * l, in[part(l, 2)], out[part(l, 2)]));
      p.add(std::move(lane));
    }
  });
  EXPECT_NEAR(time(s, m), cost + 1e-3 + hop + relay + 2e-3, 1e-12);
}

// A ring of 8 turns 7 times: the loop is one iteration and a pace to the flow model, seven to the exact one.
TEST_P(ByHand, ALoopTakesItsTripsTimesItsIteration) {
  const Schedule s = by_hand(8, 8 * million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "ring", 1);
    const auto block = [](Expression i) { return part(mod(std::move(i), 8), 8); };
    lane.loop(7, [&](Variable i) {
      return exchange((r + 1) % 8, out[block(r - i)], (r + 7) % 8, into(out[block(r - i - 1)]));
    });
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, plain("8")), 7 * (cost + 1e-3 + hop + relay), 1e-12);
}

// The root's peers change from iteration to iteration.
TEST_P(ByHand, ALoopOfChangingPeersIsWalked) {
  const Schedule s = by_hand(8, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "linear", 1);
    if (r == 0)
      lane.loop(7, [&](Variable i) { return Round{{send(i + 1, out[whole()])}, 0}; });
    else
      lane.step(receive(0, out[whole()]));
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, plain("8")), 7 * (cost + 1e-3) + hop + relay, 1e-12);
}

TEST_P(ByHand, LanesAfterAllOfOthersAddTheirTimes) {
  const Schedule s = by_hand(8, million, 4, [](std::int32_t r, ProgramBuilder& p) {
    for (std::int32_t l = 0; l < 2; ++l) {
      LaneBuilder lane(LaneId{l}, l == 0 ? "there" : "back", 4);
      if (l == 1) lane.after({LaneId{0}}, Scope::all);
      if (r == l) lane.step(send(1 - l, out[whole()]));
      if (r == 1 - l) lane.step(receive(l, out[whole()]));
      p.add(std::move(lane));
    }
  });
  const SchedulePrediction p = predicted(s, plain("8"), GetParam());
  EXPECT_NEAR(p.seconds.value, 2 * (4 * (cost + 0.25e-3) + hop + relay), 1e-12);
  ASSERT_EQ(p.phases.size(), 2U);
  EXPECT_EQ(p.phases[0].name, "there");
  EXPECT_EQ(p.phases[1].name, "back");
}

// Even ranks call the engine once the odd ones have handed them their parts; rank 7 does so late.
TEST_P(ByHand, AnOffloadEndsForAllAfterTheLastCall) {
  Machine m = plain("8");
  m.offload.emplace();
  m.offload->max_bytes.value = {8};
  m.offload->base_latency.value = {5e-6};
  m.offload->stage_latency.value = {2e-6};
  const Schedule s = by_hand(8, 1, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder fold(LaneId{0}, "fold", 1), engine(LaneId{1}, "engine", 1);
    engine.after({LaneId{0}}, Scope::segment);
    if (r == 1) fold.step(send(0, in[whole()]));
    if (r == 0) fold.step(receive_reduce(1, in[whole()], out[whole()]));
    if (r % 2 == 0) engine.step(offload(out[whole()], r == 0 ? out[whole()] : in[whole()]));
    p.add(std::move(fold));
    if (r % 2 == 0) p.add(std::move(engine));
  });
  const double folded = cost + 8 / 1e9 + hop + relay + 8 / 4e9;
  EXPECT_NEAR(time(s, m), folded + 5e-6 + 2 * 2e-6, 1e-12) << "four ranks are two stages";
  m.offload->base_latency.value = {50e-6};
  EXPECT_NEAR(time(s, m), folded + 50e-6 + 2 * 2e-6, 1e-12);
}

TEST_P(ByHand, AnOffloadNeedsAMachineThatDescribesIts) {
  Machine m = plain("4");
  m.offload.reset();
  const Schedule s = by_hand(4, 1, 1, [](std::int32_t, ProgramBuilder& p) {
    LaneBuilder engine(LaneId{0}, "engine", 1);
    engine.step(offload(out[whole()], in[whole()]));
    p.add(std::move(engine));
  });
  SimulateOptions options;
  options.model = GetParam();
  const auto p = simulate(s, m, {}, options);
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.error().kind, Error::Kind::not_applicable);
  EXPECT_NE(p.error().sentence().find("[offload]"), std::string::npos) << p.error().sentence();
}

// A call without data ends for all after the last has come, which is the last rank, late; one of no elements is none.
TEST_P(ByHand, ABarrierOfTheEngineWaitsForTheLast) {
  Machine m = plain("8");
  m.offload.emplace();
  m.offload->base_latency.value = {5e-6};
  m.offload->stage_latency.value = {2e-6};
  const Schedule s = by_hand(8, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "late", 1);
    if (r == 7) lane.step(reduce(out[whole()], in[whole()], in[whole()]));
    lane.step(offload());
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, m), 1e6 / 4e9 + 5e-6 + 3 * 2e-6, 1e-12);
  const Schedule none = by_hand(8, 0, 1, [](std::int32_t, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "engine", 1);
    lane.step(offload(out[whole()], in[whole()]));
    p.add(std::move(lane));
  });
  EXPECT_EQ(time(none, m), 0);
}

// What K's engine takes: one element of 64 bits or fewer, and for each type operations of its own.
TEST_P(ByHand, AnOffloadIsOfWhatTheEngineKnows) {
  const Machine m = job_on("k-computer", "4x3x4");
  const auto said = [&](DataType type, Operation op, std::int64_t count) {
    const RankSpace space = Job(m).rank_space();
    const Schedule s = *algorithm("offloaded")
                            .build(make_collective(CollectiveKind::allreduce, space.ranks(), count, type, op), space);
    SimulateOptions options;
    options.model = GetParam();
    const auto p = simulate(s, m, {}, options);
    EXPECT_TRUE(p.ok() || p.error().kind == Error::Kind::not_applicable);
    return p ? std::string() : p.error().sentence();
  };
  for (const Operation op : {Operation::sum, Operation::max, Operation::band, Operation::bor, Operation::bxor}) {
    EXPECT_EQ(said(DataType::int64, op, 1), "");
    EXPECT_EQ(said(DataType::uint32, op, 1), "");
  }
  EXPECT_EQ(said(DataType::float64, Operation::sum, 1), "");
  EXPECT_NE(said(DataType::float64, Operation::max, 1).find("float_operations"), std::string::npos);
  EXPECT_NE(said(DataType::int64, Operation::prod, 1).find("integer_operations"), std::string::npos);
  EXPECT_NE(said(DataType::int32, Operation::sum, 2).find("max_elements"), std::string::npos);
  EXPECT_NE(said(DataType::int64, Operation::sum, 2).find("max_bytes"), std::string::npos);
}

// 17 elements of 8 B in four segments: the longest is of 5, whichever it is.
TEST_P(ByHand, AnOffloadIsNoLongerThanTheEngineTakes) {
  Machine m = described("fugaku", "4x1x1");
  const Schedule s = by_hand(4, 17, 4, [](std::int32_t, ProgramBuilder& p) {
    LaneBuilder engine(LaneId{0}, "engine", 1);
    engine.step(offload(out[whole()], in[whole()]));
    p.add(std::move(engine));
  });
  SimulateOptions options;
  options.model = GetParam();
  m.offload->max_elements.reset();
  m.offload->max_bytes.value = {40};
  EXPECT_TRUE(simulate(s, m, {}, options).ok());
  m.offload->max_bytes.value = {39};
  const auto p = simulate(s, m, {}, options);
  ASSERT_FALSE(p.ok());
  EXPECT_EQ(p.error().kind, Error::Kind::not_applicable);
  EXPECT_NE(p.error().sentence().find("max_bytes"), std::string::npos) << p.error().sentence();
}

// Four pairs copy at 8 GB/s each through a memory that carries 16; on a slow node both are slower.
TEST_P(ByHand, ASlowNodeSlowsTheMemoryBetweenItsRanks) {
  Machine m = plain("2");
  m.node.default_ranks_per_node.value = 8;
  m.node.memory_bandwidth.value = {32e9};
  m.node.shared_memory_latency.value = {2e-6};
  const Schedule s = by_hand(16, 4 * million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "pairs", 1);
    if (r < 4) lane.step(send(r + 4, out[whole()]));
    if (r >= 4 && r < 8) lane.step(receive(r - 4, out[whole()]));
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, m), 1e-3 + 2e-6, 1e-12);
  m.slow_nodes.push_back({NodeId{0}, 0.5});
  EXPECT_NEAR(time(s, m), 2e-3 + 2e-6, 1e-12);
}

// A step on 1 MB at each of the first so many ranks of the first node.
Schedule local(std::int32_t ranks, std::int32_t lanes, bool sums) {
  return by_hand(16, lanes * million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    for (std::int32_t l = 0; l < lanes && r < ranks; ++l) {
      LaneBuilder lane(LaneId{l}, "local", 1);
      const Extent mine = part(l, lanes);
      lane.step(sums ? reduce(out[mine], in[mine], out[mine]) : copy(out[mine], in[mine]));
      p.add(std::move(lane));
    }
  });
}

// Eight copies at 8 GB/s each read and write 128 GB/s, eight sums at 4 GB/s read and write 96.
TEST_P(ByHand, CopiesAndSumsOfANodeShareItsMemory) {
  Machine m = plain("2");
  m.node.default_ranks_per_node.value = 8;
  m.node.memory_bandwidth.value = {128e9};
  EXPECT_NEAR(time(local(8, 1, false), m), 1e-3 / 8, 1e-12);
  EXPECT_NEAR(time(local(8, 1, true), m), 1e-3 / 4, 1e-12);
  m.node.memory_bandwidth.value = {48e9};
  EXPECT_NEAR(time(local(3, 1, false), m), 1e-3 / 8, 1e-12) << "three just fit";
  EXPECT_NEAR(time(local(8, 1, false), m), 1e-3 / 3, 1e-12);
  EXPECT_NEAR(time(local(8, 1, true), m), 1e-3 / 2, 1e-12);
}

TEST_P(ByHand, LocalSumsOfTwoLanesShareTheThread) {
  Machine m = plain("16");
  m.node.reduction_rate.value = {1e9};
  EXPECT_NEAR(time(local(1, 1, true), m), 1e-3, 1e-12);
  EXPECT_NEAR(time(local(1, 2, true), m), 2e-3, 1e-12);
}

TEST_P(ByHand, SumsOfWhatArrivesShareTheMemoryToo) {
  Machine m = plain("2");
  m.node.default_ranks_per_node.value = 8;
  m.node.memory_bandwidth.value = {12e9}; // four copies at 1.5 GB/s, four sums at 1
  const Schedule s = by_hand(16, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "pairs", 1);
    if (r < 4) lane.step(send(r + 4, in[whole()]));
    if (r >= 4 && r < 8) lane.step(receive_reduce(r - 4, in[whole()], out[whole()]));
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, m), 1e-3 / 1.5 + 1e-6 + 1e-3, 1e-12);
}

// A signal has no bytes, and takes nothing from whoever has some.
TEST_P(ByHand, ASignalLeavesTheLinkAlone) {
  const Schedule s = by_hand(8, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    for (std::int32_t l = 0; l < 2; ++l) {
      LaneBuilder lane(LaneId{l}, "beside", 1);
      if (r == 0) lane.step(l == 0 ? send(1, out[whole()]) : signal(1));
      if (r == 1) lane.step(l == 0 ? receive(0, out[whole()]) : wait_signal(0));
      p.add(std::move(lane));
    }
  });
  EXPECT_NEAR(time(s, plain("8")), cost + 1e-3 + hop + relay, 1e-12);
}

// The second lane follows segment by segment: one phase, whatever the lanes are called.
TEST_P(ByHand, LanesThatOverlapAreOnePhase) {
  const auto named = [](const char* first, const char* second) {
    return by_hand(8, million, 4, [=](std::int32_t r, ProgramBuilder& p) {
      for (std::int32_t l = 0; l < 2; ++l) {
        LaneBuilder lane(LaneId{l}, l == 0 ? first : second, 4);
        if (l == 1) lane.after({LaneId{0}}, Scope::segment);
        if (r == l) lane.step(send(1 - l, out[whole()]));
        if (r == 1 - l) lane.step(receive(l, out[whole()]));
        p.add(std::move(lane));
      }
    });
  };
  const SchedulePrediction p = predicted(named("there, 1", "back, 1"), plain("8"), GetParam());
  ASSERT_EQ(p.phases.size(), 1U);
  EXPECT_EQ(p.phases[0].name, "there and back");
  EXPECT_EQ(p.phases[0].seconds.value, p.seconds.value);
  EXPECT_EQ(predicted(named("x", "x"), plain("8"), GetParam()).seconds.value, p.seconds.value);
}

// As many as a loop or a lane has at ranks that take no part in it.
// The first round waits for a receiver that is late; the second ends at once, and the third waits for the first.
TEST_P(ByHand, ARoundStartsWhenAllUpToTheOneInFlightBeforeItHaveEnded) {
  const Schedule s = by_hand(8, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "two in flight", 1);
    if (r == 0)
      lane.loop(
          3,
          [](Variable i) {
            return Round{{send(i + 1, out[whole()])}, 0};
          },
          2);
    if (r == 7) lane.step(send(1, out[whole()]));
    if (r == 1) lane.step(receive(7, out[whole()]));
    if (r >= 1 && r <= 3) lane.step(receive(0, out[whole()]));
    p.add(std::move(lane));
  });
  EXPECT_GT(time(s, plain("8")), 3e-3);
}

TEST_P(ByHand, AMillionEmptyIterationsTakeNoTime) {
  const Schedule s = by_hand(2, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "idle", 1);
    lane.loop(1'000'000, [](Variable) { return Round{}; });
    lane.step(r == 0 ? send(1, out[whole()]) : receive(0, out[whole()]));
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, plain("2")), cost + 1e-3 + hop + relay, 1e-12);
}

TEST_P(ByHand, AMillionEmptySegmentsTakeNoTime) {
  const Schedule s = by_hand(2, million, 1'000'000, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "idle", 1);
    if (r == 0) lane.round(Round{});
    p.add(std::move(lane));
  });
  EXPECT_EQ(time(s, plain("2")), 0);
}

TEST_P(ByHand, LinkBytesAreCountedOnEveryLinkOfTheRoute) {
  const SchedulePrediction p = predicted(one_message(0, 3, 8), plain("8"), GetParam());
  EXPECT_DOUBLE_EQ(p.link_bytes_sum, 3e6);
  EXPECT_DOUBLE_EQ(p.link_bytes_max, 1e6);
  EXPECT_EQ(p.links, 16);
  EXPECT_EQ(p.links_waiting_share, 0);
}

} // namespace
} // namespace kumihimo::simulate_test
