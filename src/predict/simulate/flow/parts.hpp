// What the model flow is made of: the function of each stage, and the fitted numbers. Tests and fits put others in
// their place.
#pragma once

#include "simulate/flow/doubts.hpp"
#include "simulate/flow/fitted.hpp"
#include "simulate/flow/periods.hpp"
#include "simulate/flow/sampling.hpp"
#include "simulate/flow/symmetry.hpp"
#include "simulate/flow/walk.hpp"

#include <functional>

namespace kumihimo::simulation {

struct FlowParts {
  FittedNumbers fitted;
  std::function<decltype(simulation::compile)> compile = simulation::compile;
  std::function<decltype(fold_symmetry)> symmetry = fold_symmetry;
  std::function<decltype(plan_sampling)> sampling = plan_sampling;
  std::function<Result<PhaseWalk>(Walk&, std::int32_t phase, WalkProgress before)> levels = &Walk::phase;
  std::function<decltype(simulation::periods)> periods = simulation::periods;
  std::function<decltype(simulation::doubts)> doubts = simulation::doubts;
};

} // namespace kumihimo::simulation
