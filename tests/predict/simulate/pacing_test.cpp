// Gaps: what idles a lane's queue from one rank to another, where its messages come from rounds, loops or segments.
#include "support.hpp"

namespace kumihimo::simulate_test {
namespace {

class Pacing : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(Pacing);

// 1 MB, then 3 MB of silence before the next may follow: paced to a quarter of the link.
TEST_P(Pacing, AGapKeepsTheQueueIdle) {
  const auto paced = [](std::int64_t segments, std::int64_t gap) {
    return by_hand(4, segments * million, segments, [=](std::int32_t r, ProgramBuilder& p) {
      LaneBuilder lane(LaneId{0}, "paced", segments);
      if (r == 0) lane.round({send(1, out[whole()])}, gap);
      if (r == 1) lane.step(receive(0, out[whole()]));
      p.add(std::move(lane));
    });
  };
  const Machine m = plain("4");
  EXPECT_NEAR(time(paced(1, 3'000'000), m), cost + 1e-3 + hop + relay, 1e-12) << "nothing follows";
  EXPECT_NEAR(time(paced(5, 3'000'000), m), 5 * (cost + 1e-3) + 4 * 3e-3 + hop + relay, 1e-12);
  EXPECT_NEAR(time(paced(5, 0), m), 5 * (cost + 1e-3) + hop + relay, 1e-12);
}

// The same in loops, whose iterations are walked only where the gap changes.
TEST_P(Pacing, AGapInALoopToo) {
  const auto looped = [](const std::function<Expression(Variable)>& gap) {
    return by_hand(4, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
      LaneBuilder lane(LaneId{0}, "paced", 1);
      lane.loop(4, [&](Variable i) {
        return r == 0   ? Round{{send(1, out[part(i, 4)])}, gap(i)}
               : r == 1 ? Round{{receive(0, out[part(i, 4)])}, 0}
                        : Round{};
      });
      p.add(std::move(lane));
    });
  };
  const Machine m = plain("4");
  const double even = time(looped([](Variable) { return Expression(1'000'000); }), m);
  EXPECT_NEAR(even, 4 * (cost + 0.25e-3) + 3 * 1e-3 + hop + relay, 1e-12);
  const double growing = time(looped([](Variable i) { return 1'000'000 * (i + 1); }), m);
  // The flow model walks the sender's loop alone, and does not hear of the last arrival.
  EXPECT_NEAR(growing, 4 * (cost + 0.25e-3) + (1 + 2 + 3) * 1e-3 + hop + relay, hop + relay + 1e-12);
}

// Half a megabyte each; the second message is posted when the first has left, and waits for the gap behind that.
TEST_P(Pacing, AGapBetweenRounds) {
  const auto paced = [](std::int64_t gap, std::int32_t second) {
    return by_hand(4, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
      LaneBuilder lane(LaneId{0}, "paced", 1);
      if (r == 0) lane.round({send(1, out[part(0, 2)])}, gap);
      if (r == 0) lane.step(send(second, out[part(1, 2)]));
      if (r == 1) lane.step(receive(0, out[part(0, 2)]));
      if (r == second) lane.step(receive(0, out[part(1, 2)]));
      p.add(std::move(lane));
    });
  };
  const Machine m = plain("4");
  const double both = 2 * (cost + 0.5e-3) + hop + relay;
  EXPECT_NEAR(time(paced(3'000'000, 1), m), both + 3e-3, 1e-12);
  EXPECT_NEAR(time(paced(3'000'000, 3), m), both, 1e-12) << "another queue";
  EXPECT_NEAR(time(paced(0, 1), m), both + hop + relay, 1e-12) << "received once the first has arrived";
}

TEST(PacedGaps, BeyondTheRangeOfBytesAreRefused) {
  const Variant& paced = algorithm("paced", CollectiveKind::alltoall);
  const RankSpace space = RankSpace::box(*Shape::parse("4x4x4"), 1);
  const auto refused = [&](std::int64_t bytes, std::int64_t gap) {
    Parameters p;
    p.gap = gap;
    const auto s = paced.build(make_collective(paced.kind, 64, bytes / 8), space, p);
    EXPECT_TRUE(s || s.error().kind == Error::Kind::not_applicable) << s.error().sentence();
    return !s;
  };
  EXPECT_FALSE(refused(std::int64_t{1} << 38, 1 << 20));
  EXPECT_TRUE(refused(std::int64_t{1} << 43, 1 << 20));
  EXPECT_FALSE(refused(std::int64_t{1} << 43, 0));
}

// The queue is idle only once: a gap that has passed meanwhile delays nothing.
TEST_P(Pacing, AGapPassesWhileOthersAreSentTo) {
  const Schedule s = by_hand(4, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "paced", 1);
    const std::int32_t peers[] = {1, 3, 1};
    for (std::int64_t i = 0; i < 3; ++i) {
      if (r == 0) lane.round({send(peers[i], out[part(i, 4)])}, i == 0 ? 100'000 : 0);
      if (r == peers[i]) lane.step(receive(0, out[part(i, 4)]));
    }
    p.add(std::move(lane));
  });
  EXPECT_NEAR(time(s, plain("4")), 3 * (cost + 0.25e-3) + hop + relay, 1e-12);
}

// Gaps that have passed are forgotten where many add up; one that has not is kept.
TEST_P(Pacing, ALongGapAmongManyShortOnes) {
  const auto exchanges = [](std::int64_t gap) {
    return by_hand(16, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
      LaneBuilder lane(LaneId{0}, "paced", 1);
      for (const std::int32_t d : {1, 2, 3, 4, 5, 6, 1}) {
        Round round = exchange((r + d) % 16, out[part(d, 100)], (r + 16 - d) % 16, into(out[part(50 + d, 100)]));
        round.gap = d == 1 ? gap : 100;
        lane.round(std::move(round));
      }
      p.add(std::move(lane));
    });
  };
  const Machine m = plain("16");
  EXPECT_LT(time(exchanges(100), m), 1e-3);
  EXPECT_GT(time(exchanges(3'000'000), m), 3e-3);
  EXPECT_LT(time(exchanges(3'000'000), m), 3.2e-3);
}

TEST_P(Pacing, AGapBehindTheLastIteration) {
  const auto followed = [](std::int64_t outer, std::int64_t inner) {
    return by_hand(4, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
      LaneBuilder lane(LaneId{0}, "paced", 1);
      const auto message = [=](Expression i) {
        const Extent eighth = part(std::move(i), 8);
        return r == 0 ? send(1, out[eighth]) : receive(0, out[eighth]);
      };
      if (r < 2)
        lane.loop(outer, [&](BodyBuilder& body, Variable o) {
          body.loop(inner, [&](Variable i) { return Round{{message(o * inner + i)}, 1'000'000}; });
        });
      if (r < 2) lane.step(message(7));
      p.add(std::move(lane));
    });
  };
  const Machine m = plain("4");
  const double one = cost + 0.125e-3;
  EXPECT_NEAR(time(followed(1, 4), m), 5 * one + 4 * 1e-3 + hop + relay, 1e-12);
  EXPECT_NEAR(time(followed(2, 3), m), 7 * one + 6 * 1e-3 + hop + relay, 1e-12);
}

} // namespace
} // namespace kumihimo::simulate_test
