// When a lane's next segment may start: its window, other lanes, and slots of shared scratch that are still read.
#include "program/builder.hpp"
#include "program/segment_start.hpp"

#include <gtest/gtest.h>

#include <array>
#include <random>

namespace kumihimo {
namespace {

constexpr Segments segments{6};

// Lane 0 writes shared scratch of two slots, lane 1 reads it; lane 2 is after all of lane 1 and after a lane that the
// rank lacks.
Program program() {
  ProgramBuilder p(segments);
  const Array shared = p.scratch({LaneId{0}, true, Layout::vector, 1, 1, 1, false, 0});
  LaneBuilder writer(LaneId{0}, "writer", 2), reader(LaneId{1}, "reader", 1), last(LaneId{5}, "last", 2);
  writer.step(copy(shared[whole()], in[whole()]));
  reader.after({LaneId{0}}, Scope::segment).step(copy(out[whole()], shared[whole()]));
  last.after({LaneId{1}}, Scope::all).after({LaneId{4}}, Scope::all);
  p.add(std::move(writer));
  p.add(std::move(reader));
  p.add(std::move(last));
  return p.finish();
}

TEST(Starting, WaitsAreThoseOfLanesAndOfSharedSlots) {
  const auto waits = waits_of(program(), segments);
  ASSERT_EQ(waits.size(), 3u);
  EXPECT_EQ(waits[0], (std::vector<SegmentWait>{{1, 2, false}})) << "two slots: segment s after segment s - 2 was read";
  EXPECT_EQ(waits[1], (std::vector<SegmentWait>{{0, 0, false}}));
  EXPECT_EQ(waits[2], (std::vector<SegmentWait>{{1, 0, true}})) << "a lane that the rank lacks is ignored";
}

TEST(Starting, ABufferThatIsNotThereIsNoWait) {
  Program wrong = program();
  wrong.scratch.clear();
  EXPECT_TRUE(waits_of(wrong, segments)[0].empty());
}

TEST(Starting, PhasesTellCycles) {
  const LaneWait whole{1, 0, Scope::all}, follows{2, 1, Scope::segment}, back{0, 2, Scope::segment};
  const LanePhases row = phases(3, std::vector{whole, follows});
  EXPECT_EQ(row.of_lane, (std::vector<std::int32_t>{0, 1, 1}));
  EXPECT_FALSE(row.has_cycle);
  EXPECT_TRUE(phases(3, std::vector{whole, follows, back}).has_cycle);
  EXPECT_FALSE(phases(3, std::vector{follows, LaneWait{1, 2, Scope::segment}}).has_cycle) << "of segments alone";
}

// In any order that the rule allows all segments run, and never one too early.
TEST(Starting, RunsEverySegmentAndNoneTooEarly) {
  const Program p = program();
  const auto waits = waits_of(p, segments);
  std::mt19937 random(5);
  for (int run = 0; run < 200; ++run) {
    std::array<LanePosition, 3> lanes;
    std::array<std::vector<bool>, 3> complete;
    for (std::size_t l = 0; l < 3; ++l) lanes[l].window = p.lanes[l].window, complete[l].resize(6);
    for (std::int64_t done = 0; done < 18;) {
      const std::size_t l = random() % 3;
      LanePosition& lane = lanes[l];
      const auto all = [&](std::int32_t other) { return lanes[static_cast<std::size_t>(other)].complete == 6; };
      const auto one = [&](std::int32_t other, std::int64_t s) -> bool {
        return complete[static_cast<std::size_t>(other)][static_cast<std::size_t>(s)];
      };
      if (may_start(lane, 6, waits[l], all, one)) {
        const std::int64_t s = lane.begun++;
        EXPECT_LT(s - lane.complete, lane.window);
        EXPECT_TRUE(l != 0 || s < 2 || one(1, s - 2)) << "a slot that is read is written";
        EXPECT_TRUE(l != 1 || one(0, s)) << "what is not written is read";
        EXPECT_TRUE(l != 2 || lanes[1].complete == 6);
      }
      // Any segment in flight may be the next that is complete.
      std::vector<std::size_t> flying;
      for (std::int64_t s = lane.complete; s < lane.begun; ++s)
        if (!complete[l][static_cast<std::size_t>(s)]) flying.push_back(static_cast<std::size_t>(s));
      if (flying.empty() || random() % 2 == 0) continue;
      complete[l][flying[random() % flying.size()]] = true;
      ++done;
      while (lane.complete < lane.begun && complete[l][static_cast<std::size_t>(lane.complete)]) ++lane.complete;
    }
  }
}

} // namespace
} // namespace kumihimo
