// The fluid of graphs (src/predict/fluid) without its tolerance, of any subject.
#include "models/rows/fluid_graphs.hpp"
#include "models/rows/on_schedules.hpp"

namespace kumihimo::models {

namespace {

Result<Ran> run_exact(const Question& question, const Run& run) {
  if (kind_of(question.subject) >= SubjectKind::graphs) return run_fluid("exact", question, run, fluid::no_tolerance);
  SimulateOptions options;
  options.model = kumihimo::ScheduleModel::exact;
  options.scalar_reduction = question.place.scalar_reduction;
  options.keep_link_bytes = question.options.link_bytes;
  options.noise = run.noise;
  return run_simulate(question, options);
}

} // namespace

Model exact_model() {
  return {
      .name = "exact",
      .summary = "messages share links, event by event; schedules of up to 512 ranks",
      .fidelity = "the fluid solution without approximations: shares are solved anew at each start and end",
      .accepts = {{"collective", {"given", "order", "placement", "links", "noise", "slow", "no_simd"}},
                  {"programs", {"given", "order", "placement", "links", "noise", "slow"}},
                  {"goal", {"given", "order", "placement", "noise", "dies", "slow"}},
                  {"recording",
                   {"given", "order", "placement", "noise", "dies", "page", "by_rank", "timeline", "slow"}},
                  {"solver", {"noise", "seed", "iterations_of_noise"}},
                  {"stencil"}},
      .run = run_exact,
  };
}

} // namespace kumihimo::models
