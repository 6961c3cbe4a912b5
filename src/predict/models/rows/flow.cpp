// Messages share links, engines and memories max-min fairly: schedules by levels (simulate/flow), graphs as fluids.
#include "models/rows/fluid_graphs.hpp"
#include "models/rows/on_schedules.hpp"

namespace kumihimo::models {

namespace {

Result<Ran> run_flow(const Question& question, const Run& run) {
  if (kind_of(question.subject) >= SubjectKind::graphs) return run_fluid("flow", question, run, {});
  SimulateOptions options;
  options.scalar_reduction = question.place.scalar_reduction;
  options.keep_link_bytes = question.options.link_bytes;
  options.without = question.options.without;
  options.clock = question.options.clock;
  return run_simulate(question, options);
}

} // namespace

Model flow_model() {
  return {
      .name = "flow",
      .summary = "messages share links; long programs by levels",
      .fidelity = "max-min fair shares of links, engines and memories; of schedules round by round, with a range that "
                  "holds the exact time",
      .accepts = {{"collective", {"given", "order", "placement", "links", "without", "explain", "slow", "no_simd"}},
                  {"programs", {"given", "order", "placement", "links", "without", "explain", "slow"}},
                  {"goal", {"given", "order", "placement", "noise", "dies", "slow"}},
                  {"recording",
                   {"given", "order", "placement", "noise", "dies", "page", "by_rank", "timeline", "slow"}},
                  {"solver"},
                  {"stencil"},
                  {"hartree_fock"},
                  {"lu"},
                  {"fft3d"}},
      .run = run_flow,
  };
}

} // namespace kumihimo::models
