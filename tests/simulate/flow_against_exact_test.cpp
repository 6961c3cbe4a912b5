// The flow model against the exact solution, of random cases. KUMIHIMO_CASES and KUMIHIMO_SEED choose others; all that
// are farther off than they say are listed.
#include "program/named_programs.hpp"
#include "random_case.hpp"
#include "random_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <random>
#include <ranges>

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
    constexpr std::int32_t most_ranks = 512; // of the exact model
    if (!s || s->claims.offloads || s->ranks() > most_ranks) continue;
    if (static_cast<double>(s->ranks()) * s->ranks() * static_cast<double>(s->segments.count) > 3e5) continue;
    ++done;
    fn(c, *s);
  }
}

template <class Case, class Programs> // a RandomCase and its Schedule, or RandomPrograms and their ProgramSet
Prediction answer(const Case& c, const Programs& programs, const SimulateOptions& options) {
  const auto p = simulate(programs, c.job, {}, options);
  EXPECT_TRUE(p.ok()) << c.text() << ": " << (p ? "" : p.error().sentence());
  return p ? *p : Prediction{};
}

template <class Case>
void expect_in_range(const Case& c, const Prediction& flow, const Prediction& exact) {
  if (exact.seconds.value <= 0) return;
  const double error = flow.seconds.value / exact.seconds.value - 1;
  EXPECT_LE(error, flow.too_long + 1e-6) << c.text() << ": " << flow.accuracy;
  EXPECT_LE(-error, flow.too_short + 1e-6) << c.text() << ": " << flow.accuracy;
  EXPECT_EQ(flow.accuracy.empty(), flow.too_long <= 0.2 && flow.too_short <= 0.2) << c.text();
}

// How far off the figures are: what docs/adr/0030-flow-and-exact.md says of them.
class Distribution {
 public:
  void add(const Prediction& flow, const Prediction& exact) {
    if (exact.seconds.value <= 0) return;
    const double error = flow.seconds.value / exact.seconds.value - 1;
    errors_.push_back(std::abs(error));
    if (!flow.accuracy.empty()) return ++labelled_, void();
    longest_ = std::max(longest_, error), shortest_ = std::min(shortest_, error);
  }
  std::string text() {
    std::sort(errors_.begin(), errors_.end());
    const auto share_within = [&](double most) {
      const auto count = std::upper_bound(errors_.begin(), errors_.end(), most) - errors_.begin();
      return 100 * static_cast<double>(count) / static_cast<double>(errors_.size());
    };
    return fmt::format("{} cases: {:.1f} % within 1 %, {:.1f} % within 5 %, {:.1f} % within 20 %; {} have a range, "
                       "the others are {:+.1f} % to {:+.1f} % off",
                       errors_.size(), share_within(0.01), share_within(0.05), share_within(0.2), labelled_,
                       100 * shortest_, 100 * longest_);
  }

 private:
  std::vector<double> errors_;
  std::int64_t labelled_ = 0;
  double longest_ = 0, shortest_ = 0; // of cases without a range
};

// As it is asked, and as larger machines are.
TEST(FlowAgainstExact, IsWithinAFifthOrWithinItsRange) {
  Distribution asked, levels;
  for_each_case(200, [&](const RandomCase& c, const Schedule& s) {
    const Prediction exact = answer(c, s, {Model::exact});
    const auto compare = [&](const SimulateOptions& options, Distribution& distribution) {
      const Prediction flow = answer(c, s, options);
      expect_in_range(c, flow, exact);
      distribution.add(flow, exact);
    };
    compare({}, asked);
    compare(without_exact_work(Model::flow), levels);
  });
  fmt::print("as asked: {}\nby levels: {}\n", asked.text(), levels.text());
}

// Any program set by levels; none of them is a collective.
TEST(FlowAgainstExact, RandomProgramsAreWithinAFifthOrWithinTheirRange) {
  RandomProgramSets sets(static_cast<std::uint64_t>(from_environment("KUMIHIMO_SEED", 1)));
  Distribution levels;
  for (std::int64_t left = from_environment("KUMIHIMO_CASES", 200); left > 0; --left) {
    const RandomPrograms c = sets.next();
    const Prediction exact = answer(c, c.set, {Model::exact});
    const Prediction flow = answer(c, c.set, without_exact_work(Model::flow));
    expect_in_range(c, flow, exact);
    levels.add(flow, exact);
  }
  fmt::print("random programs by levels: {}\n", levels.text());
}

// Pairs of neighbours with one message on each of two lanes, a long computation after one of them. The message on lane
// 1 begins while that on lane 0, which the model has delivered, is still under way.
RandomPrograms two_lanes(std::int32_t short_computations, std::int32_t lane_that_computes) {
  RandomPrograms c{Job(described("k-computer", "4x4x4")), {}, 0};
  constexpr std::int64_t elements = 1 << 18;
  c.set.data = one_buffer(64, 2 * elements);
  c.set.program = [=](Rank rank) {
    ProgramBuilder program;
    for (std::int32_t id = 0; id < 2; ++id) {
      LaneBuilder lane(LaneId{id}, "", 1);
      for (std::int32_t i = 0; id == 1 && i < short_computations; ++i) lane.step(compute({.seconds = 2e-6}));
      if (rank.value % 2 == 0)
        lane.step(send(rank.value + 1, in[part(id, 2)]));
      else
        lane.step(receive(rank.value - 1, out[part(id, 2)]));
      if (id == lane_that_computes) lane.step(compute({.seconds = 530e-6}));
      program.add(std::move(lane));
    }
    return program.finish();
  };
  return c;
}

TEST(FlowAgainstExact, MessagesOfEarlierLevelsAreSeenToMeetLaterOnes) {
  for (const std::int32_t short_computations : {1, 2})
    for (const std::int32_t lane : {0, 1}) {
      const RandomPrograms c = two_lanes(short_computations, lane);
      const Prediction exact = answer(c, c.set, {Model::exact});
      const Prediction flow = answer(c, c.set, without_exact_work(Model::flow));
      EXPECT_LT(flow.seconds.value, 1.1 * exact.seconds.value);
      expect_in_range(c, flow, exact);
    }
}

// By how much the time fell at most, where the exact solution did not fall as much: there a message that is late may
// leave its links to another, and what waits for that ends sooner.
struct Falls {
  double asked = 0, levels = 0;
  std::string text() const {
    return fmt::format("at most {:.1f} % less time as asked, {:.1f} % by levels", 100 * asked, 100 * levels);
  }
};

// As it is asked, and by levels: `after` is the same question of a slower machine or of more bytes.
void expect_no_sooner(const RandomCase& before, const RandomCase& after, const std::string& change, Falls& falls) {
  const Schedule s = *before.schedule(), slower = *after.schedule();
  const auto ratio = [&](const SimulateOptions& options) {
    return answer(after, slower, options).seconds.value / answer(before, s, options).seconds.value;
  };
  const auto expect = [&](const SimulateOptions& options, double& farthest) {
    const double answered = ratio(options);
    constexpr double rounding = 1e-9;
    if (answered >= 1 - std::max(farthest, rounding)) return;
    const double fell = 1 - answered / std::min(1.0, ratio({Model::exact}));
    farthest = std::max(farthest, fell);
    EXPECT_LE(fell, rounding) << before.text() << " and " << change << ", exact work " << options.most_exact_work;
  };
  expect({}, falls.asked);
  expect(without_exact_work(Model::flow), falls.levels);
}

RandomCase slower_at(const RandomCase& c, LinkId link) {
  RandomCase slower = c;
  slower.job.machine.slow_links.push_back({NodeId{}, NodeId{}, link, 0.3});
  return slower;
}

std::vector<LinkId> used_links(const RandomCase& c, const Schedule& s) {
  SimulateOptions options;
  options.keep_link_bytes = true;
  const Prediction p = answer(c, s, options);
  std::vector<LinkId> used;
  for (std::size_t l = 0; l < p.link_bytes.size(); ++l)
    if (p.link_bytes[l] > 0) used.push_back(LinkId{static_cast<std::int32_t>(l)});
  return used;
}

TEST(FlowAgainstExact, ASlowerLinkMakesNothingFaster) {
  std::mt19937_64 random(3);
  Falls falls;
  for_each_case(100, [&](const RandomCase& c, const Schedule& s) {
    const auto used = used_links(c, s);
    if (used.empty()) return;
    const RandomCase slower = slower_at(c, used[random() % used.size()]);
    expect_no_sooner(c, slower, "a slower link", falls);
    expect_in_range(slower, answer(slower, s, without_exact_work(Model::flow)), answer(slower, s, {Model::exact}));
  });
  fmt::print("a slower link: {}\n", falls.text());
}

// Of fewer elements than parts some messages are empty and not sent, which ones depends on the length: then the exact
// solution itself falls by up to a third (allreduce pairwise on 8x4x4 of K, 4 segments, from 1024 to 1200 bytes).
bool reaches_all(const RandomCase& c, const Schedule& s) {
  constexpr std::int64_t most_lanes = 12;
  const std::int64_t parts = s.segments.count * most_lanes * (s.collective().kind->is_vector() ? s.ranks() : 1);
  return c.bytes / size_of(c.type) >= parts;
}

TEST(FlowAgainstExact, MoreBytesInAsManySegmentsTakeNoLessTime) {
  std::mt19937_64 random(4);
  Falls falls;
  for_each_case(100, [&](const RandomCase& c, const Schedule& s) {
    const std::int64_t elements = c.bytes / size_of(c.type);
    const auto divisor = static_cast<std::int64_t>(1 + random() % 8);
    const std::int64_t more = (elements + elements / divisor + 1) * size_of(c.type);
    const auto longer = c.schedule(more);
    if (!reaches_all(c, s) || !longer || longer->segments.count != s.segments.count) return;
    RandomCase longer_case = c;
    longer_case.bytes = more;
    expect_no_sooner(c, longer_case, fmt::format("{} bytes", more), falls);
  });
  fmt::print("more bytes: {}\n", falls.text());
}

// What the flow model was farthest off in before small programs were solved exactly and doubts had ranges.

RandomCase named(CollectiveKind kind, const char* name, const char* shape, std::int64_t bytes,
                 std::int64_t segments = 0, const char* machine = "k-computer") {
  RandomCase c{&algorithm(name, kind), Job(described(machine, shape)), bytes};
  if (segments > 0) c.parameters.segments = segments;
  return c;
}

TEST(FlowAgainstExact, WorstCasesAreInTheirRange) {
  using Kind = CollectiveKind;
  std::vector<RandomCase> worst;
  for (const char* machine : {"k-computer", "fugaku", "hector-2a"}) {
    for (const std::int64_t segments : {0, 2})
      worst.push_back(named(Kind::allreduce, "ring", "8x4", 16, segments, machine));
    for (const std::int64_t segments : {0, 2, 4})
      worst.push_back(named(Kind::allreduce, "ring", "5x4", 32, segments, machine));
    for (const std::int64_t bytes : {4 << 10, 64 << 10, 512 << 10}) {
      worst.push_back(named(Kind::reduce_scatter, "pairwise", "4x4x2", bytes, 4, machine));
      worst.push_back(named(Kind::reduce_scatter, "bucket", "4x4x2", bytes, 4, machine));
      worst.push_back(named(Kind::reduce, "binomial", "4x4x2", bytes, 4, machine));
    }
  }
  // Sums of one node that begin apart, and ranks of which some begin their rounds sooner: without a range once.
  worst.push_back(named(Kind::reduce_scatter, "ring", "2x4x3", 5760, 0, "hector-2a"));
  for (const char* shape : {"10mx2m", "20m"})
    worst.push_back(named(Kind::reduce_scatter, "recursive_halving", shape, 11840, 0, "fugaku"));
  for (RandomCase& c : worst | std::views::drop(worst.size() - 3)) c.job = *Job::with_ranks_per_node(c.job.machine, 4);
  for (const RandomCase& c : worst) {
    const Schedule s = *c.schedule();
    const Prediction exact = answer(c, s, {Model::exact});
    expect_in_range(c, answer(c, s, {}), exact);
    expect_in_range(c, answer(c, s, without_exact_work(Model::flow)), exact);
  }
}

TEST(FlowAgainstExact, ScatterOverASlowerLinkIsNotFaster) {
  Falls falls;
  for (const std::int64_t bytes : {64, 64 << 10}) {
    const RandomCase c = named(CollectiveKind::scatter, "bine", "8x4x4", bytes);
    const auto used = used_links(c, *c.schedule());
    for (std::size_t l = 0; l < used.size(); l += 7) expect_no_sooner(c, slower_at(c, used[l]), "a slower link", falls);
  }
}

TEST(FlowAgainstExact, MoreBytesOfWorstCasesTakeNoLessTime) {
  Falls falls;
  for (const char* name : {"pairwise", "swing", "rotated_rings"})
    for (const char* shape : {"4x4", "4x4x2", "8x4"})
      for (std::int64_t bytes = 4 << 10; bytes <= 256 << 10; bytes *= 4) {
        const RandomCase c = named(CollectiveKind::allreduce, name, shape, bytes);
        const Schedule s = *c.schedule();
        for (const std::int64_t more : {bytes + bytes / 8, bytes * 3 / 2}) {
          RandomCase longer = c;
          longer.bytes = more;
          if (longer.schedule()->segments.count == s.segments.count)
            expect_no_sooner(c, longer, fmt::format("{} bytes", more), falls);
        }
      }
  fmt::print("more bytes of the worst cases: {}\n", falls.text());
}

} // namespace
} // namespace kumihimo::simulate_test
