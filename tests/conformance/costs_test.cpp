// The closed form of each row against the exact solution on an ideal crossbar: a network that carries everything at
// once, with an engine for each lane of a rank.
#include "collectives/registry.hpp"
#include "machine/machine.hpp"
#include "simulate/simulate.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace conformance {
namespace {

using namespace kumihimo;

constexpr CostRates rates{10e-6, 1e-9, 0.25e-9, 20e-6, 5e-6, 1e9};

// Links of any bandwidth, so that the torus is a crossbar to whoever sends.
Machine crossbar(const Shape& shape, std::int64_t engines) {
  constexpr double unlimited = 1e18;
  Machine m = Machine{}.as_torus(shape);
  m.network.link_bandwidth.value = {unlimited};
  m.network.engines.value = engines;
  m.network.engine_bandwidth.value = {1 / rates.beta};
  m.network.injection_bandwidth.value = {unlimited};
  m.node.default_ranks_per_node.value = 1;
  m.node.memory_bandwidth.value = m.node.shared_memory_bandwidth.value = {unlimited};
  m.node.reduction_rate.value = m.node.reduction_rate_scalar.value = {1 / rates.gamma};
  m.software.message_cost.value = {rates.alpha};
  m.offload.emplace();
  m.offload->max_bytes.value = {static_cast<std::int64_t>(rates.engine_bytes)};
  m.offload->base_latency.value = {rates.engine_base}, m.offload->stage_latency.value = {rates.engine_stage};
  return m;
}

// One, or one for each tree or lane of an algorithm that takes their number: those of a rank's first phase.
std::int64_t engines_of(const Variant& v, const Schedule& s) {
  std::int64_t most = 1;
  if (!v.takes(parameter::trees)) return 1;
  for (std::int32_t r = 0; r < s.ranks(); ++r) {
    std::int64_t first = 0;
    for (const Lane& lane : s.program(Rank{r}).lanes) first += lane.after.empty();
    most = std::max(most, first);
  }
  return most;
}

struct Compared {
  std::string what;
  double ratio = 0; // of the closed form to the exact time
};

std::optional<Compared> compare(const Variant& v, const RankSpace& space, std::int64_t bytes, const Parameters& p) {
  const Collective c = make_collective(v.kind, space.ranks(), bytes / 8);
  const Result<Schedule> s = v.build(c, space, p);
  if (!s) return std::nullopt;
  const CostCase at{c, space, v.with_defaults(p), s->segments.count, rates};
  if (!v.cost.holds(at)) return std::nullopt;
  // Each rank has a node of its own, whatever levels it sees.
  const bool alone = space.has_shape() && space.shape().places() == space.ranks();
  const Shape crossed = alone ? space.shape() : Shape({Axis{space.ranks(), true}});
  const auto exact = simulate(*s, crossbar(crossed, engines_of(v, *s)), {}, {.model = ScheduleModel::exact});
  EXPECT_TRUE(exact) << (exact ? "" : exact.error().sentence());
  if (!exact) return std::nullopt;
  return Compared{fmt::format("{} {} {} {} bytes, {}", name_of(v.kind), v.name, space.name(), bytes, s->parameters),
                  v.cost.seconds(at) / exact->seconds.value};
}

// Whole messages come within 25 %, and nine of ten rows within 1 %; segments overlap, which the forms tell more
// roughly.
constexpr double of_whole_messages = 0.25, of_segments = 0.4;

const std::vector<RankSpace>& spaces() {
  static const std::vector<RankSpace> all = [] {
    std::vector<RankSpace> found;
    for (const std::int32_t ranks : {2, 3, 4, 5, 8, 9, 16, 27, 32}) found.push_back(RankSpace::row(ranks));
    for (const std::string_view shape : {"8", "4x4", "3x3", "4x2x4", "3x5", "4x3x3", "5mx4m", "3mx3mx3m"})
      found.push_back(RankSpace::box(*Shape::parse(shape)));
    for (const std::int32_t each : {2, 3, 4}) found.push_back(RankSpace::box(*Shape::parse("4"), each));
    std::mt19937 random(16);
    for (int i = 0; i < 6; ++i) {
      std::vector<Axis> axes(1 + random() % 3);
      for (Axis& axis : axes) axis = {static_cast<std::int32_t>(1 + random() % 5), true};
      if (Shape(axes).places() > 1) found.push_back(RankSpace::box(Shape(axes)));
    }
    return found;
  }();
  return all;
}

TEST(Costs, ClosedFormsAreTheExactTimeOnACrossbar) {
  for (const Variant& v : Registry::standard().variants()) {
    int compared = 0, close = 0;
    for (const RankSpace& space : spaces())
      for (const std::int64_t bytes : {64, 100'000, 4'000'000})
        for (const std::int64_t segments : {1, 4, 32}) {
          Parameters p;
          if (segments > 1) p.segments = segments;
          p.default_segment_bytes = std::int64_t{1} << 40;
          const auto found = compare(v, space, bytes, p);
          if (!found) continue;
          ++compared;
          close += std::abs(found->ratio - 1) < 0.01;
          EXPECT_NEAR(found->ratio, 1, segments == 1 ? of_whole_messages : of_segments) << found->what;
        }
    const bool has_form = v.cost.time && v.name != "paced"; // which is of a torus' links
    EXPECT_EQ(compared > 0, has_form) << name_of(v.kind) << " " << v.name;
    EXPECT_TRUE(!has_form || close > 0) << name_of(v.kind) << " " << v.name << ": no case comes within 1 %";
  }
}

// Nor is a form of few ranks, of a node alone or of an axis of one, infinite or negative, whether it holds or not.
TEST(Costs, OfFewRanksAreFiniteAndOfARankAloneNone) {
  std::vector<RankSpace> few{RankSpace::row(1), RankSpace::row(2), RankSpace::row(3)};
  for (const std::string_view shape : {"1", "1x1", "1x2", "2", "3x1", "1m"})
    for (const std::int32_t each : {1, 2, 3}) few.push_back(RankSpace::box(*Shape::parse(shape), each));
  for (const Variant& v : Registry::standard().variants())
    for (const RankSpace& space : few)
      for (const std::int64_t segments : {1, 4}) {
        Parameters p;
        if (segments > 1) p.segments = segments;
        const Collective c = make_collective(v.kind, space.ranks(), 1000);
        const Result<Schedule> s = v.build(c, space, p);
        if (!s || !v.cost.time) continue;
        const double seconds = v.cost.seconds({c, space, v.with_defaults(p), s->segments.count, rates});
        EXPECT_TRUE(std::isfinite(seconds) && seconds >= 0)
            << name_of(v.kind) << " " << v.name << " " << space.name() << ": " << seconds;
        if (space.ranks() > 1) continue;
        EXPECT_EQ(seconds, 0) << name_of(v.kind) << " " << v.name;
        const auto exact = simulate(*s, crossbar(Shape({Axis{1, true}}), 1), {}, {.model = ScheduleModel::exact});
        ASSERT_TRUE(exact) << exact.error().sentence();
        EXPECT_LT(exact->seconds.value, rates.alpha / 1000) << name_of(v.kind) << " " << v.name;
      }
}

// A form that is off by a step, or by a part of its bytes, is found.
TEST(Costs, AWrongFormIsFound) {
  Variant v = **Registry::standard().find(CollectiveKind::allreduce, "ring");
  const RankSpace space = RankSpace::row(4);
  ASSERT_NEAR(compare(v, space, 4'000'000, {})->ratio, 1, 0.01);
  v.cost.time = v.cost.time / 2;
  EXPECT_GT(std::abs(compare(v, space, 4'000'000, {})->ratio - 1), of_whole_messages);
}

TEST(Costs, FormsOfCubesHoldForAllCubes) {
  const Variant& v = **Registry::standard().find(CollectiveKind::alltoall, "three_phase");
  const auto holds = [&](std::int32_t ranks) {
    const Collective c = make_collective(v.kind, ranks, 1);
    const RankSpace space = RankSpace::row(ranks);
    const Parameters none;
    const CostCase at{c, space, none, 1, rates};
    const bool does = v.cost.where.holds(at);
    EXPECT_TRUE(!does || cost::cube_root_P(at) == std::round(std::cbrt(ranks))) << ranks;
    return does;
  };
  for (std::int32_t a = 2; a <= 1290; ++a) {
    ASSERT_TRUE(holds(a * a * a)) << a << " cubed";
    ASSERT_FALSE(holds(a * a * a - 1) || holds(a * a * a + 1)) << a << " cubed, one off";
  }
}

TEST(Costs, FormulasPrintThemselves) {
  using namespace cost;
  EXPECT_EQ((2 * (P - 1) * alpha + 2 * (1 - 1 / P) * n * beta).text(), "2(P - 1)α + 2(1 - 1/P)nβ");
  EXPECT_EQ((log_P * alpha).text(), "log₂P·α");
  EXPECT_EQ((n / (2 * S) * beta - (alpha - cost::gamma)).text(), "(n/(2S))β - (α - γ)");
  EXPECT_EQ((n / S * beta - n / P).text(), "(n/S)β - n/P");
  EXPECT_EQ((Cost{ceil_log_P * alpha, powers_of_two && whole_messages}.text()),
            "⌈log₂P⌉α where P is a power of two, S = 1");
  const Collective c = make_collective(CollectiveKind::allreduce, 8, 3);
  const RankSpace space = RankSpace::row(8);
  const Parameters none;
  const CostCase at{c, space, none, 2, {1, 10, 100}};
  EXPECT_EQ((2 * P - n / S)(at), 4);
  EXPECT_EQ(max(alpha * log_P, cost::gamma)(at), 100);
  EXPECT_EQ((sum_of_lengths + d)(at), 8);
}

} // namespace
} // namespace conformance
