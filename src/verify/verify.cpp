#include "verify/verify.hpp"

#include "program/cursor.hpp"
#include "verify/claims.hpp"
#include "verify/deadlock_freedom.hpp"
#include "verify/deliveries.hpp"
#include "verify/execution.hpp"
#include "verify/happens_before.hpp"
#include "verify/matching.hpp"
#include "verify/memory_checks.hpp"
#include "verify/rank_kinds.hpp"
#include "verify/sampled_elements.hpp"
#include "verify/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace kumihimo::verify {
namespace {

std::int64_t most_blocks_of(const DataLayout& data) { // of the buffers
  std::int64_t most = 0;
  for (const Layout side : {Layout::input_blocks, Layout::output_blocks})
    if (data.has(side)) most = std::max(most, data.layout(side).blocks);
  return most;
}

class ScheduleChecker {
 public:
  ScheduleChecker(const Subject& schedule, const RankSpace* space, const VerifyOptions& options)
      : schedule_(schedule), space_(space), options_(options), matching_(schedule, options),
        deadlock_freedom_(schedule), sampled_(schedule, options), deliveries_(schedule), rank_kinds_(*schedule.data) {}

  Report run() {
    if (report_.findings.empty()) visit_programs();
    if (report_.findings.empty()) matching_.check(report_.findings);
    report_.coverage.steps = saturated(static_cast<Wide>(steps_of_segment_) * schedule_.segments.count);
    report_.coverage.pairs = matching_.pairs();
    report_.coverage.pairs_sampled = matching_.sampled();
    if (report_.findings.empty()) execute_all();
    if (report_.findings.empty()) check_height();
    if (report_.findings.empty()) report_.findings = std::move(link_findings_);
    return std::move(report_);
  }

 private:
  void find(std::string what) { report_.findings.push_back({Check::claim, {}, std::move(what)}); }

  void visit_programs() {
    if (schedule_.post_condition.rank_order && !schedule_.claims.keeps_rank_order)
      return find("the operation does not commute, and the schedule does not claim to keep rank order");
    std::optional<LinkClaims> links;
    if (space_) links.emplace(schedule_, *space_, options_.most_findings);
    for (std::int32_t r = 0; r < schedule_.ranks(); ++r) {
      const Program program = schedule_.program(Rank{r});
      check_structure(schedule_, program, Rank{r}, options_.most_findings, report_.findings);
      if (report_.findings.size() >= options_.most_findings) return;
      if (!report_.findings.empty()) continue; // other ranks' findings of the same kind are still worth having
      if (links) links->add(program, Rank{r}, link_findings_);
      const Binding binding(schedule_, Rank{r});
      matching_.add(program, binding);
      deadlock_freedom_.add(program);
      sampled_.add(program, binding);
      const std::int32_t kind = schedule_.together ? RankKinds::none : rank_kinds_.add(program, Rank{r});
      deliveries_.add(program, binding, kind);
      for (const Lane& lane : program.lanes)
        widest_window_ = std::max(widest_window_, std::min(lane.window, schedule_.segments.count));
      for (const Lane& lane : program.lanes) {
        steps_of_segment_ = saturated(static_cast<Wide>(steps_of_segment_) + expanded_steps(lane.body));
        finest_cut_ = std::max(finest_cut_, finest_cut(lane));
      }
    }
  }

  // Number of pieces into which a lane cuts a vector or an array of blocks.
  std::int64_t finest_cut(const Lane& lane) const {
    std::int64_t finest = 1;
    for_each_round_as_written(lane, schedule_.segments, [&](const Round& round, Values) {
      for (const Step& step : round.steps)
        for (const Chunk* chunk : {&step.source, &step.target}) {
          const std::int64_t blocks = chunk->extent.layout == Layout::vector ? 1 : most_blocks_;
          if (chunk->exists()) finest = std::max(finest, saturated(static_cast<Wide>(chunk->extent.parts) * blocks));
        }
    });
    return finest;
  }

  // Time goes with the steps, and memory with the pieces that every rank's data are cut in.
  bool few_enough() const {
    const Wide pieces = static_cast<Wide>(schedule_.ranks()) * finest_cut_;
    const bool barrier = schedule_.post_condition.barrier;
    const Wide times = barrier ? (schedule_.ranks() + most_entries - 1) / most_entries : 1; // executed
    return report_.coverage.steps * times <= options_.most_exact_steps &&
           pieces * schedule_.segments.count <= options_.most_exact_pieces;
  }

  void execute_all() {
    ExecutionScope scope;
    scope.segments = schedule_.segments.count;
    const bool barrier = schedule_.post_condition.barrier;
    report_.coverage.exact = few_enough();
    scope.entries_from = report_.coverage.exact ? 0 : -1;
    if (report_.coverage.exact) {
      do {
        run(schedule_, scope);
        scope.entries_from += most_entries;
      } while (report_.findings.empty() && barrier && scope.entries_from < schedule_.ranks());
      report_.coverage.deadlock_segments = scope.segments;
      report_.coverage.deadlock_shown = true;
      report_.coverage.deadlock = "every step executed";
      if (report_.findings.empty()) follow_in_place();
      return;
    }
    show_no_deadlock();
    if (report_.findings.empty()) follow_ranks();
    if (report_.findings.empty() && schedule_.post_condition.direct) follow_deliveries();
    if (!report_.findings.empty()) return;
    scope.sampled_elements = sampled_.list();
    if (scope.sampled_elements.empty()) return;
    run(schedule_, scope);
    report_.coverage.samples = static_cast<std::int64_t>(scope.sampled_elements.size());
  }

  // Where the data are right apart, and in place no input is read after it was overwritten, they are right in place.
  void follow_in_place() {
    const auto together = in_place();
    OrderCache orders;
    for (std::int32_t r = 0; together && r < schedule_.ranks(); ++r) {
      if (report_.findings.size() >= options_.most_findings) return;
      if (auto wrong = check_footprint(*together, Rank{r}, schedule_.segments.count, orders))
        report_.findings.push_back(std::move(*wrong));
    }
  }

  // The same programs where input and output are one memory, if they claim to bear it and have not been tried so.
  std::optional<Subject> in_place() const {
    if (!schedule_.together) return std::nullopt;
    Subject together = schedule_;
    together.data = schedule_.together;
    return together;
  }

  void run(const Subject& schedule, const ExecutionScope& scope) {
    ExecutionOutcome outcome = execute(schedule, scope, options_.most_findings);
    report_.findings = std::move(outcome.findings);
    some_empty_ |= outcome.some_empty;
    report_.coverage.executed += outcome.executed;
    report_.coverage.height = std::max(report_.coverage.height, outcome.height);
    report_.coverage.order = outcome.order;
  }

  // Followed whole it must be as claimed; samples may miss the longest path, and where there is less than an element
  // for each lane some relay nothing.
  void check_height() {
    const std::int64_t claimed = schedule_.claims.height, found = report_.coverage.height;
    if (claimed < 0 || found < 0) return;
    const bool whole = report_.coverage.exact && !some_empty_;
    if (whole ? found != claimed : found > claimed)
      find(fmt::format("the longest chain of messages must be {}{}, as claimed (got {})", whole ? "" : "at most ",
                       claimed, found));
  }

  // Without the data, see deadlock_freedom.hpp. If an execution without empty steps is stuck, one with them need not
  // be, so that is no finding. Then the budget says how many segments are executed with their empty steps.
  void show_no_deadlock() {
    Coverage& covered = report_.coverage;
    const std::int64_t count = schedule_.segments.count, each = std::max<std::int64_t>(1, steps_of_segment_);
    ExecutionScope scope;
    scope.memory = false;
    scope.segments = 1;
    if (matching_.aligned() && deadlock_freedom_.lanes_in_turn()) {
      covered.deadlock_shown = true;
      covered.deadlock = "every message has the same position in both programs";
      if (!schedule_.post_condition.barrier) return;
    }
    const bool affordable = each <= options_.most_control_steps;
    if (affordable && deadlock_freedom_.one_segment_stands_for_all()) {
      scope.none_empty = count > 1;
      if (shown_by(scope, count == 1 ? "every step executed" : "one segment executed; the others behave alike")) return;
      scope.none_empty = false;
    }
    // Up to where windows have wrapped twice.
    scope.segments = std::min(count, options_.most_control_steps / each);
    if (widest_window_ < scope.segments / 2) scope.segments = std::min(scope.segments, 2 * widest_window_ + 2);
    if (scope.segments > 0) run(schedule_, scope);
    covered.deadlock_segments = scope.segments;
    if (covered.deadlock_shown) return;
    covered.deadlock_shown = scope.segments == count;
    covered.deadlock = covered.deadlock_shown ? "every step executed"
                       : scope.segments == 0  ? fmt::format("any segment, of {} steps each", each)
                                              : fmt::format("segments from {} on", scope.segments);
  }

  bool shown_by(const ExecutionScope& scope, std::string how) {
    ExecutionOutcome outcome = execute(schedule_, scope, options_.most_findings);
    if (!outcome.findings.empty()) return false;
    report_.coverage.executed += outcome.executed;
    report_.coverage.height = std::max(report_.coverage.height, outcome.height);
    report_.coverage.deadlock_segments = 1;
    report_.coverage.deadlock_shown = true;
    report_.coverage.deadlock = std::move(how);
    return true;
  }

  // Ranks by themselves: all elements of the first segments, until the windows have wrapped. One rank of each kind; if
  // there are many kinds, ranks spread over all, the first and last among them. As the schedule is, and in place.
  void follow_ranks() {
    const std::int64_t ranks = schedule_.ranks(), count = schedule_.segments.count;
    const std::int64_t each = std::max<std::int64_t>(1, steps_of_segment_ / ranks);
    std::int64_t segments = std::max<std::int64_t>(1, std::min(count, options_.most_footprint_steps / each / 2));
    if (widest_window_ < segments) segments = std::min(segments, widest_window_ + 1);
    if (!rank_kinds_.kinds().empty()) return follow_kinds(segments);
    const std::int64_t some = std::clamp<std::int64_t>(options_.most_footprint_steps / (each * segments),
                                                       std::min<std::int64_t>(2, ranks), ranks);
    report_.coverage.footprint_segments = segments;
    const auto together = in_place();
    OrderCache orders;
    for (std::int64_t i = 0; i < some; ++i) {
      const auto rank = static_cast<std::int32_t>(some == 1 ? 0 : i * (ranks - 1) / (some - 1));
      auto wrong = check_footprint(schedule_, Rank{rank}, segments, orders);
      if (!wrong && together) wrong = check_footprint(*together, Rank{rank}, segments, orders);
      if (wrong) return report_.findings.push_back(std::move(*wrong));
      ++report_.coverage.footprints;
    }
  }

  void follow_kinds(std::int64_t segments) {
    report_.coverage.footprint_segments = segments;
    OrderCache orders;
    for (const RankKinds::Kind& kind : rank_kinds_.kinds()) {
      if (auto wrong = check_footprint(schedule_, kind.first, segments, orders))
        return report_.findings.push_back(std::move(*wrong));
      report_.coverage.footprints += kind.ranks;
    }
  }

  // All ranks by themselves; where that does not show that all are right, those that may be wrong, and some others.
  void follow_deliveries() {
    const std::int64_t ranks = schedule_.ranks();
    if (deliveries_.shown()) return void(report_.coverage.deliveries = ranks);
    for (const std::int32_t rank : deliveries_.ranks_to_check())
      if (report_.findings.empty()) follow_delivery(rank);
    std::int64_t left = options_.most_footprint_steps;
    for (std::int64_t i = 0; i < most_deliveries && left > 0 && report_.findings.empty(); ++i) {
      const std::int64_t before = report_.coverage.executed;
      follow_delivery(static_cast<std::int32_t>(i * (ranks - 1) / (most_deliveries - 1)));
      left -= std::max<std::int64_t>(1, report_.coverage.executed - before);
      ++report_.coverage.deliveries;
    }
  }

  // A rank with those that it receives from, whose messages with others are left out.
  void follow_delivery(std::int32_t rank) {
    ExecutionScope scope;
    scope.segments = schedule_.segments.count;
    scope.ranks = with_senders(rank);
    run(schedule_, scope);
  }

  std::vector<std::int32_t> with_senders(std::int32_t rank) const {
    std::vector<std::int32_t> all{rank};
    const Program program = schedule_.program(Rank{rank});
    for (const Lane& lane : program.lanes)
      for_each_round(lane, 0, [&](const Round& round, Values values) {
        for (const Step& step : round.steps) {
          const auto peer = step.receives() ? static_cast<std::int32_t>(step.peer.evaluate(values)) : rank;
          if (std::find(all.begin(), all.end(), peer) == all.end()) all.push_back(peer);
        }
      });
    return all;
  }

  static constexpr std::int64_t most_deliveries = 32; // ranks whose result is looked at where not all are
  const Subject& schedule_;
  const RankSpace* space_;
  const VerifyOptions& options_;
  Matching matching_;
  DeadlockFreedom deadlock_freedom_;
  SampledElements sampled_;
  Deliveries deliveries_;
  RankKinds rank_kinds_;
  Report report_;
  std::vector<Finding> link_findings_;
  const std::int64_t most_blocks_ = most_blocks_of(*schedule_.data);
  std::int64_t widest_window_ = 1;
  std::int64_t steps_of_segment_ = 0, finest_cut_ = 1;
  bool some_empty_ = false;
};

} // namespace

Report check(const Subject& subject, const RankSpace* space, const VerifyOptions& options) {
  return ScheduleChecker(subject, space, options).run();
}
Report check(const Schedule& schedule, const RankSpace& space, const VerifyOptions& options) {
  return check(Subject(schedule), &space, options);
}
Report check(const Schedule& schedule, const VerifyOptions& options) {
  return check(Subject(schedule), nullptr, options);
}

} // namespace kumihimo::verify
