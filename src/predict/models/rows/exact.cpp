// The fluid solution without approximations, event by event (simulate/exact).
#include "models/rows/on_schedules.hpp"

namespace kumihimo::models {

namespace {

Result<Ran> run_exact(const Question& question, const Run&) {
  SimulateOptions options;
  options.model = kumihimo::Model::exact;
  options.scalar_reduction = question.place.scalar_reduction;
  options.keep_link_bytes = question.options.link_bytes;
  return run_simulate(question, options);
}

} // namespace

Model exact_model() {
  return {
      .name = "exact",
      .summary = "messages share links, event by event, to 512 ranks",
      .fidelity = "the fluid solution without approximations: shares are solved anew at each start and end",
      .accepts = {{"collective", {"given", "order", "placement", "links", "slow", "no_simd"}},
                  {"programs", {"given", "order", "placement", "links", "slow"}},
                  {"solver", {"noise", "seed", "iterations_of_noise"}},
                  {"stencil"}},
      .run = run_exact,
  };
}

} // namespace kumihimo::models
