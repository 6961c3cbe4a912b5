// The flow model against the exact solution, of random cases. KUMIHIMO_CASES and KUMIHIMO_SEED choose others. Of 300
// and more, one in 300 may be farther off than it says (docs/accuracy.md); all are listed.
#include "placement/orders.hpp"
#include "program/named_programs.hpp"
#include "program/round_graph.hpp"
#include "random_answers.hpp"
#include "random_programs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ranges>

namespace kumihimo::simulate_test {
namespace {

// How far off the figures are: what docs/adr/0030-flow-and-exact.md says of them.
class Distribution {
 public:
  template <class Case>
  void add(const Case& c, const SchedulePrediction& flow, const SchedulePrediction& exact) {
    if (exact.seconds.value <= 0) return;
    const double error = flow.seconds.value / exact.seconds.value - 1;
    constexpr double farthest = 1.6; // docs/accuracy.md: 84 % too short, where 75 % is stated
    if (!is_in_range(flow, exact))
      outside_ += fmt::format("{}: {:+.1f} % off; {}\n", c.text(), 100 * error, flow.accuracy);
    EXPECT_TRUE(is_in_range(flow, exact, farthest)) << c.text() << ": far out of its range; " << flow.accuracy;
    errors_.push_back(std::abs(error));
    if (!flow.accuracy.empty()) return too_long_.push_back(flow.too_long), too_short_.push_back(flow.too_short), void();
    longest_ = std::max(longest_, error), shortest_ = std::min(shortest_, error);
  }
  // Fails if too many are outside their range.
  std::string text() {
    EXPECT_LE(std::ranges::count(outside_, '\n'), std::ssize(errors_) / 300) << outside_;
    std::sort(errors_.begin(), errors_.end());
    const auto share_within = [&](double most) {
      const auto count = std::upper_bound(errors_.begin(), errors_.end(), most) - errors_.begin();
      return 100 * static_cast<double>(count) / static_cast<double>(errors_.size());
    };
    return fmt::format(
        "{}{} cases: {:.1f} % within 1 %, {:.1f} % within 5 %, {:.1f} % within 20 %; {:.1f} % have a range, "
        "of which the middle one is {:.0f} % too long, {:.0f} % too short; the others are {:+.1f} % to "
        "{:+.1f} % off",
        outside_, errors_.size(), share_within(0.01), share_within(0.05), share_within(0.2),
        100 * static_cast<double>(too_long_.size()) / static_cast<double>(errors_.size()), 100 * middle(too_long_),
        100 * middle(too_short_), 100 * shortest_, 100 * longest_);
  }

 private:
  std::vector<double> errors_;
  std::string outside_; // their range, a line each
  static double middle(std::vector<double>& all) {
    if (all.empty()) return 0;
    const auto at = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
    std::nth_element(all.begin(), at, all.end());
    return *at;
  }
  std::vector<double> too_long_, too_short_; // of cases with a range
  double longest_ = 0, shortest_ = 0;        // of cases without a range
};

// As it is asked, and as larger machines are.
TEST(FlowAgainstExact, IsWithinAFifthOrWithinItsRange) {
  Distribution asked, levels;
  for_each_case(100, [&](const RandomCase& c, const Schedule& s) {
    const SchedulePrediction exact = answer(c, s, {ScheduleModel::exact});
    const auto compare = [&](const SimulateOptions& options, Distribution& distribution) {
      distribution.add(c, answer(c, s, options), exact);
    };
    compare({}, asked);
    compare(without_exact_work(ScheduleModel::flow), levels);
  });
  fmt::print("as asked: {}\nby levels: {}\n", asked.text(), levels.text());
}

// Of all ranks and segments.
double steps_of(const Schedule& s) {
  double steps = 0;
  for (std::int32_t rank = 0; rank < s.ranks(); ++rank) {
    const Program program = s.program(Rank{rank});
    for (const Lane& lane : program.lanes) {
      const auto rounds = round_graph(lane, std::numeric_limits<std::int32_t>::max());
      for (const RoundGraph::Vertex& vertex : rounds->vertices)
        steps += vertex.round ? static_cast<double>(vertex.round->steps.size()) : 0;
    }
  }
  return steps * static_cast<double>(s.segments.count);
}

// What users ask for: most are solved exactly; of the others, an error of more than a fifth has a label.
TEST(FlowAgainstExact, UsualCasesAreWithinAFifthOrWithinTheirRange) {
  RandomCases cases(static_cast<std::uint64_t>(from_environment("KUMIHIMO_SEED", 1)));
  Distribution by_levels;
  std::int64_t drawn = 0;
  for (const std::int64_t all = from_environment("KUMIHIMO_CASES", 100); drawn < all;) {
    const RandomCase c = cases.usual();
    const auto s = c.schedule();
    if (!s || s->claims.offloads || s->ranks() > 512 || steps_of(*s) > 5e4) continue; // to be solved in a moment
    ++drawn;
    const SchedulePrediction flow = answer(c, *s, {});
    if (flow.is_solved) continue; // it is the exact time
    const SchedulePrediction exact = answer(c, *s, {ScheduleModel::exact});
    by_levels.add(c, flow, exact);
  }
  fmt::print("{} usual cases, of which by levels: {}\n", drawn, by_levels.text());
}

// Any program set by levels; none of them is a collective.
TEST(FlowAgainstExact, RandomProgramsAreWithinAFifthOrWithinTheirRange) {
  RandomProgramSets sets(static_cast<std::uint64_t>(from_environment("KUMIHIMO_SEED", 1)));
  Distribution levels;
  for (std::int64_t left = from_environment("KUMIHIMO_CASES", 100); left > 0; --left) {
    const RandomPrograms c = sets.next();
    const SchedulePrediction exact = answer(c, c.set, {ScheduleModel::exact});
    levels.add(c, answer(c, c.set, without_exact_work(ScheduleModel::flow)), exact);
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
      const SchedulePrediction exact = answer(c, c.set, {ScheduleModel::exact});
      const SchedulePrediction flow = answer(c, c.set, without_exact_work(ScheduleModel::flow));
      EXPECT_LT(flow.seconds.value, 1.1 * exact.seconds.value);
      expect_in_range(c, flow, exact);
    }
}

// What the flow model was farthest off in before small programs were solved exactly and doubts had ranges.

// Chains of messages that seem to meet at each hop, but were early by different times: without a range once.
TEST(FlowAgainstExact, ChainsThatDriftApartAreInTheirRange) {
  const RandomPrograms c = RandomProgramSets(2).at(14'172);
  expect_in_range(c, answer(c, c.set, without_exact_work(ScheduleModel::flow)),
                  answer(c, c.set, {ScheduleModel::exact}));
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
  // Streams whose messages share links: without a range once.
  worst.push_back(named(Kind::bcast, "binary", "3x7", 48112, 23, "hector-2a"));
  worst.back().job = *Job::with_ranks_per_node(worst.back().job.machine, 1);
  worst.back().parameters.window = 2;
  worst.push_back(named(Kind::bcast, "binary", "6x3x3", 2 << 20, 56));
  worst.back().parameters.window = 6;
  // Blocks of which some are empty or long, in segments: out of their range once.
  worst.push_back(named(Kind::reduce_scatter, "bucket", "6", 188304, 6, "fugaku"));
  worst.back().counts = "random:792", worst.back().in_place = true;
  worst.push_back(named(Kind::allgather, "ring", "3x3mx3m", 244, 2, "fugaku"));
  worst.back().job = *Job::with_ranks_per_node(worst.back().job.machine, 4);
  worst.back().type = DataType::float32, worst.back().counts = "zeros";
  // A loop of two rounds over shared links, in which ranks drift apart: without a range once.
  worst.push_back(named(Kind::allgather, "neighbour_exchange", "4x2x2", 115488));
  worst.back().job = *Job::with_node_sizes(worst.back().job.machine, {2, 4, 5, 4, 5, 4, 1, 2, 4, 3, 4, 5, 4, 5, 3, 3});
  worst.back().type = DataType::float32;
  // Two rounds at a time, to ranks that are unequally far: without a range once.
  worst.push_back(named(Kind::alltoall, "linear", "6x3", 16, 0, "hector-2a"));
  worst.back().job = *Job::with_ranks_per_node(worst.back().job.machine, 2);
  worst.back().parameters.throttle = 2;
  worst.back().order = "reversed-axes";
  worst.back().placement = *placement_in_order(worst.back().order, worst.back().job.slots, *Shape::parse("6x3"));
  // Chains whose processors issue messages and take others: without a range once, and 28 % too short.
  for (const CollectiveKind kind : {Kind::reduce, Kind::bcast})
    for (const char* shape : {"4x4x3", "12"})
      for (const std::int64_t window : {2, 4, 16}) {
        worst.push_back(named(kind, "chain", shape, 4 << 20, 91, "fugaku"));
        worst.back().parameters.window = window;
      }
  // Rings of many ranks on a node, whose eager messages start early: 2.1 and 3.2 times the exact time, of 2.
  worst.push_back(named(Kind::reduce_scatter, "ring", "16", 1024, 0, "fugaku"));
  worst.back().job = *Job::with_ranks_per_node(worst.back().job.machine, 8);
  worst.push_back(named(Kind::allreduce, "ring", "17m", 65536, 1, "fugaku"));
  worst.back().job = *Job::with_ranks_per_node(worst.back().job.machine, 4);
  // Windows of one segment: out of their range once.
  worst.push_back(named(Kind::reduce, "binary", "5", 179760, 18, "hector-2a"));
  worst.back().job = *Job::with_ranks_per_node(worst.back().job.machine, 1);
  worst.back().parameters.window = 1;
  worst.push_back(named(Kind::bcast, "binary", "4x3x2", 144, 18));
  worst.back().type = DataType::float32, worst.back().parameters.window = 1;
  // Segments of which some are eager and some, an element longer, are not: without a range once, 3.6 times too long.
  worst.push_back(named(Kind::scatter, "linear", "3", 60, 7, "hector-2a"));
  worst.back().type = DataType::float32;
  worst.push_back(named(Kind::gather, "linear", "8x4", 35760, 8, "hector-2a"));
  for (RandomCase& c : worst | std::views::drop(worst.size() - 2)) {
    c.job.machine.software.eager_bytes = Quantity<Bytes>{{1 + c.bytes / 8}};
    c.job.machine.software.rendezvous_latency = Quantity<Seconds>{{5e-6}};
  }
  for (const RandomCase& c : worst) {
    const Schedule s = *c.schedule();
    const SchedulePrediction exact = answer(c, s, {ScheduleModel::exact});
    expect_in_range(c, answer(c, s, {}), exact);
    expect_in_range(c, answer(c, s, without_exact_work(ScheduleModel::flow)), exact);
  }
}

} // namespace
} // namespace kumihimo::simulate_test
