// Jobs on Tofu: neighbours of the virtual torus have links of their own, all other messages cross the physical network.
#include "support.hpp"

namespace kumihimo::simulate_test {
namespace {

TEST(OnTofu, NeighboursAreAsFastAsOnATorusOfTheirOwn) {
  for (const char* shape : {"4x3x4", "8x9x16", "6x5x4", "12x8"})
    for (const char* name : {"trinaryx3", "bucket"}) {
      const Machine on_tofu = job_on("k-computer", shape), own = described("k-computer", shape);
      for (const std::int64_t bytes : {1 << 10, 1 << 24}) {
        const SchedulePrediction here = predicted(built(algorithm(name), on_tofu, bytes), on_tofu);
        const SchedulePrediction there = predicted(built(algorithm(name), own, bytes), own);
        EXPECT_NEAR(here.seconds.value / there.seconds.value, 1, 1e-9) << name << " on " << shape;
        EXPECT_NEAR(here.link_bytes_sum / there.link_bytes_sum, 1, 1e-9) << name << " on " << shape;
        EXPECT_EQ(here.link_bytes_max, there.link_bytes_max) << name << " on " << shape;
      }
    }
}

// Each sends 1 MiB half way round X'. On a torus of its own no more passes than the links of a cut let through; on the
// box they are more, so that the job is faster than the bound of the torus that it sees. So was alltoall of 64x64 on K.
TEST(OnTofu, AJobOf64x64ExceedsTheBoundOfItsVirtualTorus) {
  const Machine on_tofu = job_on("k-computer", "64x64"), own = described("k-computer", "64x64");
  const Schedule s = by_hand(4096, million, 1, [](std::int32_t r, ProgramBuilder& p) {
    LaneBuilder lane(LaneId{0}, "half way round", 1);
    const std::int32_t other = (r + 32 * 64) % 4096;
    lane.round({send(other, out[whole()]), receive(other, out[whole()])});
    p.add(std::move(lane));
  });
  const double bytes = 8.0 * million;
  const double bound = 2048 * bytes / (2 * 64 * 4.75e9);
  EXPECT_GE(predicted(s, own).seconds.value, bound);
  EXPECT_LT(predicted(s, on_tofu).seconds.value, 0.9 * bound);
  const auto bisection = [](const Machine& m) {
    const auto p = simulate_bound(make_collective(CollectiveKind::alltoall, 4096, 1000), m);
    for (const LowerBound& b : p->bounds)
      if (b.name == "bisection") return b.seconds.value;
    return 0.0;
  };
  EXPECT_LT(bisection(on_tofu), bisection(own));
}

TEST(OnTofu, MessagesPassDeadNodesBy) {
  const Machine job = *job_on("k-computer", "8x6x8").without({{3, 2, 2}});
  const SchedulePrediction p = predicted(built(algorithm("trinaryx3"), job, 1 << 24), job);
  const Machine own = described("k-computer", "7x6x8");
  const double alone = seconds("trinaryx3", own, 1 << 24);
  EXPECT_GT(p.seconds.value, alone) << "a detour";
  EXPECT_LT(p.seconds.value, 2.5 * alone);
  for (std::size_t link = 0; link < p.link_bytes.size(); ++link)
    EXPECT_TRUE(p.link_bytes[link] == 0 || job.topology->is_link(LinkId{static_cast<std::int64_t>(link)}));
}

// Both models read the same routes: no further apart than what flow may be without saying so.
TEST(OnTofu, FlowAgreesWithTheExactSolution) {
  const Machine m = job_on("k-computer", "4x6x4");
  for (const char* name : {"trinaryx3", "recursive_doubling", "ring"})
    for (const std::int64_t bytes : {1 << 14, 1 << 22}) {
      const Schedule s = built(algorithm(name), m, bytes);
      EXPECT_NEAR(predicted(s, m).seconds.value / predicted(s, m, ScheduleModel::exact).seconds.value, 1, 0.2) << name;
    }
}

} // namespace
} // namespace kumihimo::simulate_test
