// The experiment of the MPI_Allreduce paper (Matsumoto et al., SACSIS 2012) from the machine file alone: 9,216 nodes of
// K as 48x6x32, sums of doubles. And what six trees are worth on Fugaku, which has six engines a node.
#include "support.hpp"

namespace kumihimo::simulate_test {
namespace {

constexpr std::int64_t gib = std::int64_t{1} << 30;

const Machine& k() {
  static const Machine machine = job_on("k-computer", "48x6x32");
  return machine;
}

TEST(Reproduction, BandwidthAndSharesOfTrinaryx3) {
  const SchedulePrediction p = predicted(built(algorithm("trinaryx3"), k(), gib), k());
  EXPECT_NEAR(2.0 * gib / p.seconds.value, 7.1e9, 0.1 * 7.1e9);
  ASSERT_EQ(p.phases.size(), 2U);
  EXPECT_EQ(p.phases[0].name, "reduce");
  EXPECT_NEAR(p.phases[0].seconds.value, 0.204, 0.1 * 0.204);
  EXPECT_NEAR(p.phases[1].seconds.value, 0.098, 0.1 * 0.098);
  EXPECT_NEAR(p.phases[0].compute_share(), 0.80, 0.10);
  EXPECT_NEAR(p.compute_share(), 0.54, 0.10);
}

TEST(Reproduction, WithoutSimd) {
  const Schedule s = built(algorithm("trinaryx3"), k(), gib);
  SimulateOptions scalar;
  scalar.scalar_reduction = true;
  const double ratio = simulate(s, k(), {}, scalar)->seconds.value / predicted(s, k()).seconds.value;
  EXPECT_NEAR(ratio, 1.54, 0.15);
}

TEST(Reproduction, LongMessagesAgainstTheTopologyBlind) {
  const double trinary = seconds("trinaryx3", k(), gib);
  for (const char* name : {"recursive_doubling", "rabenseifner", "binomial", "linear"})
    EXPECT_GE(seconds(name, k(), gib), 4 * trinary) << name;
  for (const char* name : {"binary", "double_binary", "chain", "ring"})
    EXPECT_GE(seconds(name, k(), gib), 2 * trinary) << name;
}

TEST(Reproduction, ShortMessagesBelongToRecursiveDoubling) {
  EXPECT_LT(seconds("recursive_doubling", k(), 1024), seconds("trinaryx3", k(), 1024));
}

// Three children, a message each: a rank cannot issue them faster, however short they are.
TEST(Reproduction, ShortSegmentsAreNotFree) {
  Parameters p;
  p.segment_bytes = 1 << 14;
  const Schedule s = built(algorithm("trinaryx3", CollectiveKind::bcast), k(), gib, p);
  const double floor = 3 * k().software.message_cost.value.value * static_cast<double>(s.segments.count);
  const double seconds = predicted(s, k()).seconds.value;
  EXPECT_GE(seconds, floor);
  EXPECT_LE(seconds, 1.05 * floor);
}

TEST(Reproduction, LinksThatWait) {
  EXPECT_LT(predicted(built(algorithm("trinaryx3"), k(), 1 << 20), k()).links_waiting_share, 0.01);
  EXPECT_GT(predicted(built(algorithm("recursive_doubling"), k(), 1 << 20), k()).links_waiting_share, 0.10);
}

TEST(Reproduction, TheWholeMachine) {
  const Machine whole = job_on("k-computer", "48x54x32");
  const SchedulePrediction p = predicted(built(algorithm("trinaryx3"), whole, gib), whole);
  EXPECT_GT(p.seconds.value, seconds("trinaryx3", k(), gib)) << "taller trees";
  EXPECT_LT(p.seconds.value, 1.2 * seconds("trinaryx3", k(), gib)) << "scales without trouble";
}

// Fujitsu MPI's own two algorithms by the medians of Pico (machines/fugaku.toml). The file's numbers are fitted to all
// algorithms on 8 and 64 nodes: those on 512 nodes are predicted.
TEST(Reproduction, SixTreesOverThreeOnFugaku) {
  struct Measured {
    CollectiveKind kind;
    const char* shape;
    std::int64_t bytes;
    double three, six; // s
  };
  const Measured all[] = {{CollectiveKind::allreduce, "4x4x4", gib / 2, 79.9e-3, 52.3e-3},
                          {CollectiveKind::allreduce, "8x8x8", gib / 2, 84.0e-3, 58.1e-3},
                          {CollectiveKind::bcast, "8x8x8", gib / 16, 4.20e-3, 2.47e-3}};
  for (const Measured& m : all) {
    const Machine job = job_on("fugaku", m.shape);
    const auto seconds_of = [&](const char* name) {
      Parameters segments;
      segments.segment_bytes = job.segment_bytes(Bytes{m.bytes}).value;
      return predicted(built(algorithm(name, m.kind), job, m.bytes, segments), job).seconds.value;
    };
    const double three = seconds_of("trinaryx3"), six = seconds_of("trinaryx6");
    EXPECT_NEAR(three, m.three, 0.1 * m.three) << m.shape;
    EXPECT_NEAR(six, m.six, 0.12 * m.six) << m.shape;
    // On 64 nodes three trees are predicted 4 % too short and six 6 % too long, which leaves 1.36 of 1.53 times.
    EXPECT_GT(three, 1.3 * six) << m.shape << ": measured 1.45 to 1.7 times";
  }
}

} // namespace
} // namespace kumihimo::simulate_test
