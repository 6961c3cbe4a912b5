#include "verify/verify.hpp"

#include "verify/claims.hpp"
#include "verify/execution.hpp"
#include "verify/expectation.hpp"
#include "verify/matching.hpp"
#include "verify/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <random>

namespace kumihimo::verify {
namespace {

class Checker {
 public:
  Checker(const Schedule& schedule, const RankSpace* space, const Options& options)
      : schedule_(schedule), space_(space), options_(options), matching_(schedule, options) {}

  Report run() {
    if (report_.findings.empty()) visit_programs();
    if (report_.findings.empty()) matching_.check(report_.findings);
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
    const Collective& c = schedule_.collective;
    if (c.reduces() && !c.commutative && !schedule_.claims.keeps_rank_order)
      return find("the operation does not commute, and the schedule does not claim to keep rank order");
    std::optional<LinkClaims> links;
    if (space_) links.emplace(schedule_, *space_, options_.most_findings);
    for (std::int32_t r = 0; r < schedule_.ranks(); ++r) {
      const Program program = schedule_.program(Rank{r});
      check_structure(schedule_, program, Rank{r}, options_.most_findings, report_.findings);
      if (report_.findings.size() >= options_.most_findings) return;
      if (!report_.findings.empty()) continue; // other ranks' findings of the same kind are still worth having
      if (links) links->add(program, Rank{r}, link_findings_);
      matching_.add(program, Binding(schedule_.collective, schedule_.segments, Rank{r}));
      for (const Lane& lane : program.lanes) widest_window_ = std::max(widest_window_, lane.window);
      for (const Lane& lane : program.lanes)
        report_.coverage.steps += expanded_steps(lane.body) * schedule_.segments.count;
    }
  }

  void execute_all() {
    Scene scene;
    scene.segments = schedule_.segments.count;
    report_.coverage.exact = report_.coverage.steps <= options_.most_exact_steps;
    if (report_.coverage.exact) {
      run(scene);
      report_.coverage.deadlock_segments = scene.segments;
      return;
    }
    execute_first_segments();
    for (const Focus& focus : foci()) {
      if (!report_.findings.empty()) return;
      scene.focus = focus;
      run(scene);
      ++report_.coverage.samples;
    }
  }

  void run(const Scene& scene) {
    Outcome outcome = execute(schedule_, scene, options_.most_findings);
    report_.findings = std::move(outcome.findings);
    some_empty_ |= outcome.some_empty;
    report_.coverage.executed += outcome.executed;
    report_.coverage.height = std::max(report_.coverage.height, outcome.height);
  }

  // Followed whole it must be as claimed; samples may miss the longest path, and where there is less than an element
  // for each lane some relay nothing.
  void check_height() {
    const std::int64_t claimed = schedule_.claims.height, found = report_.coverage.height;
    if (claimed < 0 || found < 0) return;
    const bool whole = report_.coverage.exact && !some_empty_;
    if (whole ? found != claimed : found > claimed)
      find(fmt::format("claimed to relay over {} messages at most, found {}", claimed, found));
  }

  // Who waits for whom, without the data: as many segments as the budget allows, up to where windows have wrapped
  // twice and the pattern repeats.
  void execute_first_segments() {
    const std::int64_t each = std::max<std::int64_t>(1, report_.coverage.steps / schedule_.segments.count);
    Scene scene;
    scene.memory = false;
    scene.segments = std::min({schedule_.segments.count, 2 * widest_window_ + 2, options_.most_control_steps / each});
    if (scene.segments == 0) return;
    run(scene);
    report_.coverage.deadlock_segments = scene.segments;
  }

  // The first and last elements of the first and last segments, and some at random.
  std::vector<Focus> foci() const {
    const std::int64_t n = schedule_.collective.counts.each, count = schedule_.segments.count;
    std::vector<Focus> list;
    if (!is_vector_kind(schedule_.collective.kind) || n == 0) return list;
    const auto add = [&](std::int64_t segment, bool last) {
      const std::int64_t begin = part_begin(segment, count, n), end = part_begin(segment + 1, count, n);
      if (begin < end) list.push_back({segment, last ? end - 1 : begin});
    };
    add(0, false), add(0, true), add(count - 1, false), add(count - 1, true);
    std::mt19937_64 random(options_.seed);
    for (std::int32_t i = 0; i < options_.samples; ++i) {
      const std::int64_t element = std::uniform_int_distribution<std::int64_t>(0, n - 1)(random);
      const auto segment = static_cast<std::int64_t>(((static_cast<Wide>(element) + 1) * count - 1) / n);
      list.push_back({segment, element});
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
    return list;
  }

  const Schedule& schedule_;
  const RankSpace* space_;
  const Options& options_;
  Matching matching_;
  Report report_;
  std::vector<Finding> link_findings_;
  std::int64_t widest_window_ = 1;
  bool some_empty_ = false;
};

} // namespace

Report check(const Schedule& schedule, const RankSpace& space, const Options& options) {
  return Checker(schedule, &space, options).run();
}
Report check(const Schedule& schedule, const Options& options) { return Checker(schedule, nullptr, options).run(); }

} // namespace kumihimo::verify
