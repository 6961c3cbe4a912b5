#include "verify/verify.hpp"

#include "verify/execution.hpp"
#include "verify/matching.hpp"
#include "verify/structure.hpp"

#include <algorithm>

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
    return std::move(report_);
  }

 private:
  void visit_programs() {
    for (std::int32_t r = 0; r < schedule_.ranks(); ++r) {
      const Program program = schedule_.program(Rank{r});
      check_structure(schedule_, program, Rank{r}, options_.most_findings, report_.findings);
      if (!report_.findings.empty()) continue;
      matching_.add(program, Binding(schedule_.collective, schedule_.segments, Rank{r}));
      for (const Lane& lane : program.lanes)
        report_.coverage.steps += expanded_steps(lane.body) * schedule_.segments.count;
    }
  }

  void execute_all() {
    report_.coverage.exact = true;
    Scene scene;
    scene.segments = schedule_.segments.count;
    Outcome outcome = execute(schedule_, scene, options_.most_findings);
    report_.findings = std::move(outcome.findings);
    report_.coverage.executed = outcome.executed;
    report_.coverage.deadlock_segments = scene.segments;
    report_.coverage.height = outcome.height;
  }

  const Schedule& schedule_;
  const RankSpace* space_;
  const Options& options_;
  Matching matching_;
  Report report_;
};

} // namespace

Report check(const Schedule& schedule, const RankSpace& space, const Options& options) {
  return Checker(schedule, &space, options).run();
}
Report check(const Schedule& schedule, const Options& options) { return Checker(schedule, nullptr, options).run(); }

} // namespace kumihimo::verify
