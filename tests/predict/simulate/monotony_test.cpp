// What a user is told must not be less for a slower link or node, nor for more bytes in as many segments. There are two
// exceptions, in which the exact solution itself falls. The tests count them.
//   empty messages  Of fewer elements than messages some messages are empty, and are not sent. More bytes leave others
//                   empty.
//   order           The same messages are sent. One that is late leaves its links to another, and what waits for that
//                   ends sooner (Graham, Bounds on multiprocessing timing anomalies, 1969).
// By levels there is a third, of two machines that both have slow parts: which messages meet depends on the slow parts,
// and the prediction falls by a few percent where the exact solution does not, or not as much.
#include "program/binding.hpp"
#include "program/cursor.hpp"
#include "random_answers.hpp"

#include <fmt/format.h>

#include <cmath>
#include <random>

namespace kumihimo::simulate_test {
namespace {

constexpr double rounding = 1e-9;

// Which of all sends are empty.
std::vector<bool> sent(const Schedule& s) {
  std::vector<bool> all;
  for (std::int32_t r = 0; r < s.ranks(); ++r) {
    const Program program = s.program(Rank{r});
    const Binding binding(s, Rank{r});
    for (const Lane& lane : program.lanes)
      for (std::int64_t segment = 0; segment < s.segments.count; ++segment)
        for_each_round(lane, segment, [&](const Round& round, Values values) {
          for (const Step& step : round.steps)
            if (step.kind == StepKind::send) all.push_back(binding.length(step.extent(), values) > 0);
        });
  }
  return all;
}

struct Exception {
  std::int64_t cases = 0;
  double largest = 0; // part of the time that was saved
  void add(double saved) { ++cases, largest = std::max(largest, saved); }
};

struct Exceptions {
  std::int64_t comparisons = 0;
  Exception empty_messages, order, other_meetings;
  std::int64_t cases() const { return empty_messages.cases + order.cases + other_meetings.cases; }
  std::string text() const {
    return fmt::format("{} comparisons; less time with other empty messages in {} (by {:.1f} % at most), in another "
                       "order of the same messages in {} (by {:.1f} % at most), with other meetings by levels in {} "
                       "(by {:.1f} % at most)",
                       comparisons, empty_messages.cases, 100 * empty_messages.largest, order.cases,
                       100 * order.largest, other_meetings.cases, 100 * other_meetings.largest);
  }
};

// Of the exact solution itself: other messages may be empty, and another order of the same messages may be better.
constexpr double most_of_empty_messages = 0.35, most_of_orders = 0.1, most_of_other_meetings = 0.05;

// As it is asked, and by levels: `after` is the same collective of a slower machine or of more bytes.
void expect_no_sooner(const RandomCase& before, const RandomCase& after, const std::string& change, Exceptions& seen) {
  const Schedule s = *before.schedule(), slower = *after.schedule();
  const auto ratio = [](const SchedulePrediction& of_after, const SchedulePrediction& of_before) {
    return of_after.seconds.value / of_before.seconds.value;
  };
  for (const SimulateOptions& options : {SimulateOptions{}, without_exact_work(ScheduleModel::flow)}) {
    ++seen.comparisons;
    const SchedulePrediction p = answer(after, slower, options), q = answer(before, s, options);
    const double told = ratio(p, q);
    ASSERT_TRUE(std::isfinite(told)) << before.text() << " and " << change;
    if (told >= 1 - rounding) continue;
    const double exact = std::min(1.0, ratio(answer(after, slower, {ScheduleModel::exact}),
                                             answer(before, s, {ScheduleModel::exact}))),
                 farther = 1 - told / exact;
    if (farther <= rounding) {
      const bool empties = before.bytes != after.bytes && sent(s) != sent(slower);
      EXPECT_LE(1 - told, empties ? most_of_empty_messages : most_of_orders) << before.text() << " and " << change;
      (empties ? seen.empty_messages : seen.order).add(1 - told);
      continue;
    }
    const Machine& m = before.job.machine;
    const bool both_slow = !m.slow_links.empty() || !m.slow_nodes.empty();
    const bool by_levels = !p.is_solved && !q.is_solved; // however it was asked: solved only where that is little work
    const bool takes = m.software.receive_cost.has_value(); // one message after another, in another order by levels
    EXPECT_LE(farther, (both_slow || takes) && by_levels ? most_of_other_meetings : rounding)
        << before.text() << " and " << change << ", exact work " << options.most_exact_work;
    seen.other_meetings.add(farther);
  }
}

std::vector<LinkId> used_links(const RandomCase& c, const Schedule& s) {
  SimulateOptions options;
  options.keep_link_bytes = true;
  const SchedulePrediction p = answer(c, s, options);
  std::vector<LinkId> used;
  for (std::size_t l = 0; l < p.link_bytes.size(); ++l)
    if (p.link_bytes[l] > 0) used.push_back(LinkId{static_cast<std::int32_t>(l)});
  return used;
}

SlowLink slow(LinkId link, double factor) { return {NodeId{}, NodeId{}, link, factor}; }

// One link at a half and at a third of its rate, a second one, a node at a half and at a third of its rates: each step
// makes a machine slower, and none makes the prediction shorter.
TEST(Monotony, ASlowerLinkOrNodeMakesNothingFaster) {
  std::mt19937_64 random(3);
  Exceptions seen;
  for_each_case(30, [&](const RandomCase& c, const Schedule& s) {
    const auto used = used_links(c, s);
    std::vector<RandomCase> chain{c};
    const auto then = [&](auto&& change) {
      chain.push_back(chain.back());
      change(chain.back().job.machine);
    };
    if (!used.empty()) {
      const LinkId one = used[random() % used.size()], other = used[random() % used.size()];
      for (const double factor : {0.5, 0.3}) then([&](Machine& m) { m.slow_links = {slow(one, factor)}; });
      if (one != other) then([&](Machine& m) { m.slow_links.push_back(slow(other, 0.3)); });
    }
    const auto nodes = static_cast<std::uint64_t>(c.job.machine.topology->nodes());
    const NodeId node{static_cast<std::int32_t>(random() % nodes)};
    for (const double factor : {0.5, 0.3}) then([&](Machine& m) { m.slow_nodes = {{node, factor}}; });
    for (std::size_t i = 1; i < chain.size(); ++i) {
      const std::string change = fmt::format("step {} to slower links and nodes", i);
      expect_no_sooner(chain[i - 1], chain[i], change, seen);
      expect_in_range(chain[i], answer(chain[i], s, without_exact_work(ScheduleModel::flow)),
                      answer(chain[i], s, {ScheduleModel::exact}), change);
    }
  });
  fmt::print("slower links and nodes: {}\n", seen.text());
}

TEST(Monotony, MoreBytesInAsManySegmentsTakeNoLessTime) {
  std::mt19937_64 random(4);
  Exceptions seen;
  for_each_case(75, [&](const RandomCase& c, const Schedule& s) {
    if (c.counts.starts_with("random")) return; // drawn anew for another length: some blocks would get shorter
    const std::int64_t elements = c.bytes / size_of(c.type);
    const auto divisor = static_cast<std::int64_t>(1 + random() % 8);
    RandomCase longer = c;
    longer.bytes = (elements + elements / divisor + 1) * size_of(c.type);
    const auto built = longer.schedule();
    if (!built || built->segments.count != s.segments.count) return;
    expect_no_sooner(c, longer, fmt::format("{} bytes", longer.bytes), seen);
  });
  fmt::print("more bytes: {}\n", seen.text());
}

TEST(Monotony, ScatterOverASlowerLinkIsNotFaster) {
  Exceptions seen;
  for (const std::int64_t bytes : {64, 64 << 10}) {
    const RandomCase c = named(CollectiveKind::scatter, "bine", "8x4x4", bytes);
    const auto used = used_links(c, *c.schedule());
    for (std::size_t l = 0; l < used.size(); l += 7) {
      RandomCase slower = c;
      slower.job.machine.slow_links = {slow(used[l], 0.3)};
      expect_no_sooner(c, slower, "a slower link", seen);
    }
  }
  EXPECT_EQ(seen.cases(), 0) << seen.text();
}

TEST(Monotony, MoreBytesOfWorstCasesTakeNoLessTime) {
  Exceptions seen;
  for (const char* name : {"pairwise", "swing", "rotated_rings"})
    for (const char* shape : {"4x4", "4x4x2", "8x4"})
      for (std::int64_t bytes = 4 << 10; bytes <= 256 << 10; bytes *= 4) {
        const RandomCase c = named(CollectiveKind::allreduce, name, shape, bytes);
        const Schedule s = *c.schedule();
        for (const std::int64_t more : {bytes + bytes / 8, bytes * 3 / 2}) {
          RandomCase longer = c;
          longer.bytes = more;
          if (longer.schedule()->segments.count == s.segments.count)
            expect_no_sooner(c, longer, fmt::format("{} bytes", more), seen);
        }
      }
  EXPECT_EQ(seen.cases(), 0) << seen.text();
}

// Of 128 or 150 elements, 4 segments and 128 blocks other messages are empty, so that there are fewer one after
// another.
TEST(Monotony, MoreBytesSaveTimeWhereOtherMessagesAreEmpty) {
  for (const char* name : {"pairwise", "swing"}) {
    const RandomCase c = named(CollectiveKind::allreduce, name, "8x4x4", 1024, 4);
    RandomCase longer = c;
    longer.bytes = 1200;
    const Schedule s = *c.schedule(), longer_schedule = *longer.schedule();
    EXPECT_NE(sent(s), sent(longer_schedule)) << name;
    EXPECT_LT(answer(longer, longer_schedule, {ScheduleModel::exact}).seconds,
              answer(c, s, {ScheduleModel::exact}).seconds)
        << name;
  }
}

} // namespace
} // namespace kumihimo::simulate_test
