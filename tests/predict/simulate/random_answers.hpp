// Random cases by both models, small enough for the exact solution. KUMIHIMO_CASES and KUMIHIMO_SEED choose others.
#pragma once

#include "random_case.hpp"

#include <cstdlib>

namespace kumihimo::simulate_test {

inline std::int64_t from_environment(const char* name, std::int64_t otherwise) {
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
    constexpr std::int32_t most_ranks = 512; // of the exact model
    if (!s || s->claims.offloads || s->ranks() > most_ranks) continue;
    if (static_cast<double>(s->ranks()) * s->ranks() * static_cast<double>(s->segments.count) > 3e5) continue;
    ++done;
    fn(c, *s);
  }
}

template <class Case, class Programs> // a RandomCase and its Schedule, or RandomPrograms and their ProgramSet
SchedulePrediction answer(const Case& c, const Programs& programs, const SimulateOptions& options) {
  const auto p = simulate(programs, c.job, c.placement, options);
  EXPECT_TRUE(p.ok()) << c.text() << ": " << (p ? "" : p.error().sentence());
  return p ? *p : SchedulePrediction{};
}

// Of a sample the time may be anywhere in its interval, and as far beyond as it says. `times` as long, or short.
inline bool is_in_range(const SchedulePrediction& flow, const SchedulePrediction& exact, double times = 1) {
  double low = flow.seconds.value, high = low;
  if (const auto& s = flow.sampled) low = s->low.value * (1 - s->beyond), high = s->high.value / (1 - s->beyond);
  return low <= exact.seconds.value * (1 + flow.too_long + 1e-6) * times &&
         high * times >= exact.seconds.value * (1 - flow.too_short - 1e-6);
}

template <class Case>
void expect_in_range(const Case& c, const SchedulePrediction& flow, const SchedulePrediction& exact,
                     const std::string& change = {}) {
  if (exact.seconds.value <= 0) return;
  EXPECT_TRUE(is_in_range(flow, exact)) << c.text() << " " << change << ": " << flow.seconds.value / exact.seconds.value
                                        << " times the exact time; " << flow.accuracy;
  EXPECT_EQ(flow.accuracy.empty(), !flow.sampled && flow.too_long <= 0.2 && flow.too_short <= 0.2) << c.text();
}

inline RandomCase named(CollectiveKind kind, const char* name, const char* shape, std::int64_t bytes,
                        std::int64_t segments = 0, const char* machine = "k-computer") {
  RandomCase c{&algorithm(name, kind), Job(described(machine, shape)), bytes};
  if (segments > 0) c.parameters.segments = segments;
  return c;
}

} // namespace kumihimo::simulate_test
