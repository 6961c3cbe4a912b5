// The flow model against the exact solution, of random cases. KUMIHIMO_CASES and KUMIHIMO_SEED choose others; all that
// are farther off than they say are listed.
#include "random_case.hpp"

#include <cstdlib>
#include <random>

namespace kumihimo::simulate_test {
namespace {

std::int64_t from_environment(const char* name, std::int64_t otherwise) {
  const char* const text = std::getenv(name);
  return text == nullptr ? otherwise : std::atoll(text);
}

// fn(case, schedule) for cases that can be built, and solved exactly in a moment.
template <class F>
void for_each_case(std::int64_t count, F&& fn) {
  RandomCases cases(static_cast<std::uint64_t>(from_environment("KUMIHIMO_SEED", 1)));
  for (std::int64_t done = 0, all = from_environment("KUMIHIMO_CASES", count); done < all;) {
    const RandomCase c = cases.next();
    const auto s = c.schedule();
    if (!s || s->claims.offloads) continue;
    if (static_cast<double>(s->ranks()) * s->ranks() * static_cast<double>(s->segments.count) > 3e5) continue;
    ++done;
    fn(c, *s);
  }
}

Prediction answer(const RandomCase& c, const Schedule& schedule, const SimulateOptions& options) {
  const auto p = simulate(schedule, c.job, {}, options);
  EXPECT_TRUE(p.ok()) << c.text() << ": " << (p ? "" : p.error().sentence());
  return p ? *p : Prediction{};
}

void expect_in_range(const RandomCase& c, const Prediction& flow, const Prediction& exact) {
  if (exact.seconds.value <= 0) return;
  const double error = flow.seconds.value / exact.seconds.value - 1;
  EXPECT_LE(error, flow.too_long + 1e-6) << c.text() << ": " << flow.accuracy;
  EXPECT_LE(-error, flow.too_short + 1e-6) << c.text() << ": " << flow.accuracy;
  EXPECT_EQ(flow.accuracy.empty(), flow.too_long <= 0.2 && flow.too_short <= 0.2) << c.text();
}

// As it is asked, and as larger machines are.
TEST(FlowAgainstExact, IsWithinAFifthOrWithinItsRange) {
  for_each_case(200, [](const RandomCase& c, const Schedule& s) {
    const Prediction exact = answer(c, s, {Model::exact});
    expect_in_range(c, answer(c, s, {}), exact);
    expect_in_range(c, answer(c, s, without_exact_work(Model::flow)), exact);
  });
}

// Whatever takes longer by itself makes nothing end sooner, but for what the exact solution itself says: a message that
// is late may leave its links to another, and what waits for that ends sooner.
constexpr double anomaly = 0.05;

TEST(FlowAgainstExact, ASlowerLinkMakesNothingFaster) {
  std::mt19937_64 random(3);
  for_each_case(100, [&](const RandomCase& c, const Schedule& s) {
    SimulateOptions options;
    options.keep_link_bytes = true;
    const Prediction before = answer(c, s, options);
    std::vector<LinkId> used;
    for (std::size_t l = 0; l < before.link_bytes.size(); ++l)
      if (before.link_bytes[l] > 0) used.push_back(LinkId{static_cast<std::int32_t>(l)});
    if (used.empty()) return;
    RandomCase slower = c;
    slower.job.machine.slow_links.push_back({NodeId{}, NodeId{}, used[random() % used.size()], 0.3});
    EXPECT_GE(answer(slower, s, {}).seconds.value, before.seconds.value * (1 - anomaly)) << c.text();
  });
}

// Of few elements it is chance which segments, blocks and lanes have none.
bool reaches_all(const RandomCase& c, const Schedule& s) {
  constexpr std::int64_t most_lanes = 12;
  const std::int64_t parts = s.segments.count * most_lanes * (is_vector_kind(s.collective().kind) ? s.ranks() : 1);
  return c.bytes / size_of(c.type) >= parts;
}

TEST(FlowAgainstExact, MoreBytesInAsManySegmentsTakeNoLessTime) {
  std::mt19937_64 random(4);
  for_each_case(100, [&](const RandomCase& c, const Schedule& s) {
    const std::int64_t elements = c.bytes / size_of(c.type);
    const auto divisor = static_cast<std::int64_t>(1 + random() % 8);
    const std::int64_t more = (elements + elements / divisor + 1) * size_of(c.type);
    const auto longer = c.schedule(more);
    if (!reaches_all(c, s) || !longer || longer->segments.count != s.segments.count) return;
    EXPECT_GE(answer(c, *longer, {}).seconds.value, answer(c, s, {}).seconds.value * (1 - anomaly))
        << c.text() << " and " << more << " bytes";
  });
}

} // namespace
} // namespace kumihimo::simulate_test
