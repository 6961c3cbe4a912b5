// What the literature says in closed form of allgathers on a torus of p x p x p nodes, p = 2^k, that have one partner
// at a time: P. Sack, W. Gropp, Faster topology-aware collective algorithms through non-minimal communication, PPoPP
// 2012. n bytes a rank, P = p^3 ranks, beta seconds a byte of a link.
#include "support.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kumihimo::simulate_test {
namespace {

constexpr double n = 1 << 20, beta = 1e-9;

// Links alone cost time: everything else is a thousand times as fast.
Machine links_alone(std::int64_t p) {
  Machine m = plain(fmt::format("{0}x{0}x{0}", p));
  m.network.link_bandwidth.value = {1 / beta};
  m.network.engines.value = 1;
  m.network.engine_bandwidth.value = m.network.injection_bandwidth.value = {1e3 / beta};
  m.network.hop_latency.value = m.software.message_cost.value = m.software.relay_latency.value = {0};
  m.node.shared_memory_bandwidth.value = m.node.memory_bandwidth.value = {1e6 / beta};
  m.node.reduction_rate.value = m.node.reduction_rate_scalar.value = {1e6 / beta};
  return m;
}

double seconds_of(std::string_view name, std::int64_t p, CollectiveKind kind = CollectiveKind::allgather) {
  const Machine m = links_alone(p);
  return predicted(built(algorithm(name, kind), m, 1 << 20), m).seconds.value;
}

// The formula has the exchanges alone: of the shuffle before them it counts a message's cost, not its bytes.
double seconds_of_shuffle(std::int64_t p) {
  const Machine m = links_alone(p);
  Schedule shuffle = built(algorithm("non_minimal", CollectiveKind::allgather), m, 1 << 20);
  shuffle.program = [whole = shuffle.program](Rank r) {
    Program first = whole(r);
    first.lanes[0].body.resize(1); // a rank that keeps its block copies it
    return first;
  };
  return predicted(shuffle, m).seconds.value;
}

TEST(Formulas, NonMinimalAllgatherOnSmallTori) {
  for (const std::int64_t length : {4, 8}) {
    const auto p = static_cast<double>(length);
    const double exchanges = seconds_of("non_minimal", length) - seconds_of_shuffle(length);
    EXPECT_NEAR(exchanges / (n * beta * (7 * p * p * p / 6 - 35 * p / 12)), 1, 0.02) << p;
    EXPECT_LE(seconds_of_shuffle(length), p * n * beta * (1 + 1e-9));
  }
}

TEST(Formulas, NearestFirstAllgatherOnSmallTori) {
  for (const double p : {4, 8})
    EXPECT_NEAR(seconds_of("recursive_doubling", static_cast<std::int64_t>(p)) /
                    (n * beta * (5 * p * p / 24 - 1.0 / 3) * (1 + p + p * p)),
                1, 0.02)
        << p;
}

TEST(Formulas, LargeTori) {
  for (const std::int64_t p : {16, 32}) {
    const double P = std::pow(static_cast<double>(p), 3);
    const double far_first = seconds_of("non_minimal", p), near_first = seconds_of("recursive_doubling", p);
    EXPECT_NEAR(far_first / (7 / 6.0 * n * P * beta), 1, 0.1) << p;
    EXPECT_NEAR(near_first / (5 / 24.0 * n * std::pow(P, 4 / 3.0) * beta), 1, 0.1) << p;
    EXPECT_LT(far_first, near_first);
  }
}

// The same way back: the links carry as much. The shuffle comes last there, which some ranks come to earlier.
TEST(Formulas, AReduceScatterTakesAsLongAsItsAllgather) {
  for (const std::string_view name : {"non_minimal", "bucket", "rotated_rings"})
    for (const std::int64_t p : {4, 8})
      EXPECT_NEAR(seconds_of(name, p, CollectiveKind::reduce_scatter) / seconds_of(name, p), 1, 0.04)
          << name << " " << p;
}

} // namespace
} // namespace kumihimo::simulate_test
