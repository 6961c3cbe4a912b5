// Schedules that no time can be told of: one clear sentence, not a wrong figure.
#include "support.hpp"

#include <fmt/format.h>

namespace kumihimo::simulate_test {
namespace {

class Refusals : public BothModels {};
KUMIHIMO_IN_BOTH_MODELS(Refusals);

TEST_P(Refusals, MessagesWithoutAnotherEnd) {
  const Schedule s = by_hand(2, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "alone", 1);
    if (r == 0) lane.step(send(1, out[whole()]));
    p.add(std::move(lane));
  });
  EXPECT_FALSE(asked(s, plain("2")).ok());
}

// Also one behind a gap, whose queue the flow model remembers.
TEST_P(Refusals, AMessageWithoutAnotherEndAfterOneThatHasIt) {
  const Schedule s = by_hand(4, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "alone", 1);
    if (r < 2) lane.round({r == 0 ? send(1, out[part(0, 2)]) : receive(0, out[part(0, 2)])}, 1000);
    if (r == 2) lane.step(send(3, out[part(1, 2)]));
    p.add(std::move(lane));
  });
  const auto p = asked(s, plain("4"));
  ASSERT_FALSE(p.ok());
  const std::string sentence = p.error().sentence();
  if (GetParam() != ScheduleModel::flow) return;
  EXPECT_NE(sentence.find("a send on lane 0 from rank 2 to rank 3"), std::string::npos) << sentence;
}

// In a round, in a loop, and after messages that fit.
TEST_P(Refusals, EndsOfUnequalLengths) {
  const auto pair = [](std::int64_t parts, std::int64_t trip, std::int64_t segments) {
    return by_hand(2, million, segments, [=](std::int32_t r, ProgramBuilder& p) {
      LaneBuilder lane(LaneId{3}, "unequal", 1);
      lane.step(r == 0 ? send(1, out[whole()]) : receive(0, out[whole()]));
      lane.loop(trip, [&](Variable) {
        return Round{{r == 0 ? send(1, out[part(0, 4)]) : receive(0, out[part(0, parts)])}, 0};
      });
      p.add(std::move(lane));
    });
  };
  for (const std::int64_t trip : {1, 5})
    for (const std::int64_t segments : {1, 5}) {
      EXPECT_TRUE(asked(pair(4, trip, segments), plain("2")).ok());
      for (const std::int64_t parts : {2, 5}) {
        const auto p = asked(pair(parts, trip, segments), plain("2"));
        ASSERT_FALSE(p.ok()) << trip << " " << segments << " " << parts;
        EXPECT_NE(p.error().sentence().find(fmt::format("rank 1 on lane 3 expects {} elements where rank 0 sends {}",
                                                        million / parts / segments, million / 4 / segments)),
                  std::string::npos)
            << p.error().sentence();
      }
    }
}

// One end is a loop of two lengths, the other rounds.
TEST_P(Refusals, EndsOfEqualLengthsInOtherForms) {
  const Schedule s = by_hand(2, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "forms", 1);
    const auto both = [&](BodyBuilder& body) {
      for (const std::int64_t parts : {2, 4}) {
        const auto piece = out[part(0, parts)];
        body.step(r == 0 ? send(1, piece) : receive(0, piece));
      }
    };
    if (r == 0)
      lane.loop(3, [&](BodyBuilder& body, Variable) { both(body); });
    else
      both(lane), both(lane), both(lane);
    p.add(std::move(lane));
  });
  const auto p = asked(s, plain("2"));
  EXPECT_TRUE(p.ok()) << (p.ok() ? "" : p.error().sentence());
}

// Each receives first: there is another end to everything, but nobody comes to it.
TEST_P(Refusals, RanksThatWaitForEachOther) {
  const Schedule s = by_hand(2, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "each other", 1);
    lane.step(receive(1 - r, out[part(0, 2)]));
    lane.step(send(1 - r, out[part(1, 2)]));
    p.add(std::move(lane));
  });
  const auto p = asked(s, plain("2"));
  ASSERT_FALSE(p.ok());
  EXPECT_NE(p.error().sentence().find("the programs deadlock: 2 lanes wait for ever"), std::string::npos)
      << p.error().sentence();
}

// The peers start at `first`, and change from iteration to iteration where `step` is not 0.
Schedule to_peers(std::int64_t first, std::int64_t step) {
  return by_hand(4, million, 1, [=](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "far", 1);
    if (r == 0) lane.loop(3, [&](Variable i) { return Round{{send(first + i * step, out[whole()])}, 0}; });
    if (r > 0)
      lane.loop(step == 0 ? (r == 1 ? 3 : 0) : 1, [](Variable) { return Round{{receive(0, out[whole()])}, 0}; });
    p.add(std::move(lane));
  });
}

// 2^32 + 1 is no rank either, though its lower half is.
TEST_P(Refusals, APeerThatIsNoRank) {
  const Machine m = plain("4");
  constexpr std::int64_t far = std::int64_t{1} << 32;
  EXPECT_TRUE(asked(to_peers(1, 0), m).ok());
  EXPECT_TRUE(asked(to_peers(1, 1), m).ok());
  for (const std::int64_t first : {std::int64_t{2}, std::int64_t{-1}, far + 1})
    for (const std::int64_t step : {0, 1}) {
      if (first == 2 && step == 0) continue; // rank 2, which does not wait for three
      const auto p = asked(to_peers(first, step), m);
      ASSERT_FALSE(p.ok()) << first << " " << step;
      if (GetParam() != ScheduleModel::flow) continue;
      EXPECT_NE(p.error().sentence().find("peers must be ranks"), std::string::npos) << p.error().sentence();
    }
}

// Of the segment alone, and of a walked loop too.
TEST(FlowRefusals, PeersAndGapsThatChangeFromSegmentToSegment) {
  const auto asked = [](const Expression& peer_by_segment, const Expression& gap_by_segment, std::int64_t by_loop) {
    const Schedule s = by_hand(4, million, 2, [=](std::int32_t r, ProgramBuilder& p) {
      LaneBuilder lane(LaneId{0}, "changing", 1);
      lane.loop(2, [&](Variable i) {
        const Extent half = part(i, 2);
        return r == 0   ? Round{{send(1 + peer_by_segment, out[half])}, i * by_loop + gap_by_segment}
               : r == 1 ? Round{{receive(0, out[half])}, 0}
                        : Round{};
      });
      p.add(std::move(lane));
    });
    return simulate(s, plain("4"), {}, {});
  };
  const Expression segment = Variable{0};
  for (const std::int64_t by_loop : {0, 1000}) {
    EXPECT_TRUE(asked(0, 0, by_loop).ok());
    for (const auto& p : {asked(segment, 0, by_loop), asked(0, segment, by_loop)}) {
      ASSERT_FALSE(p.ok()) << by_loop;
      EXPECT_NE(p.error().sentence().find("changes from segment to segment"), std::string::npos)
          << p.error().sentence();
    }
  }
}

} // namespace
} // namespace kumihimo::simulate_test
