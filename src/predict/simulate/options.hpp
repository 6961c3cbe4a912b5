// How a prediction is made: by which model, and how much work it may be.
#pragma once

#include "goal/noise.hpp"
#include "simulate/prediction.hpp"
#include "simulate/stages.hpp"

#include <optional>

namespace kumihimo {

namespace simulation {
struct FlowParts; // simulate/flow/parts.hpp
}

struct SimulateOptions {
  ScheduleModel model = ScheduleModel::flow;
  bool scalar_reduction = false; // reduce at the rate without SIMD
  bool keep_link_bytes = false;  // fill SchedulePrediction::link_bytes
  // flow: most steps of all ranks to walk in loops whose peers change with every iteration. Longer loops are sampled,
  // and SchedulePrediction::sampled says so. If symmetry is proven, one rank's steps count for all its images
  // (SchedulePrediction::ranks_alike), and the limit is six times higher.
  double most_steps = 3e6;
  // flow: the steps of all ranks and segments, times those in flight at once, up to which the time is the exact
  // solution's. It is found in some 10 ms then.
  double most_exact_work = 1e6;
  std::optional<goal::NoiseModel> noise;        // exact alone
  FlowStageSet without;                         // flow: stages that are switched off
  double (*clock)() = nullptr;                  // flow: seconds; fills SchedulePrediction::stages
  const simulation::FlowParts* parts = nullptr; // flow: in place of its own, for tests and for fits
};

} // namespace kumihimo
