// How a prediction is made: by which model, and how much work it may be.
#pragma once

#include "simulate/prediction.hpp"

namespace kumihimo {

struct SimulateOptions {
  Model model = Model::flow;
  bool scalar_reduction = false; // reduce at the rate without SIMD
  bool keep_link_bytes = false;  // fill Prediction::link_bytes
  // flow: of loops whose peers change with every iteration, all steps of all ranks that are walked; of longer ones a
  // sample of the iterations stands for all, and Prediction::sampled says so. Where symmetry is proven one rank's steps
  // count for all its images (Prediction::ranks_alike), and six times as many are walked sooner than a sample is drawn.
  double most_steps = 3e6;
  // flow: the steps of all ranks and segments, times those in flight at once, up to which the time is the exact
  // solution's. It is found in some 10 ms then.
  double most_exact_work = 1e6;
};

} // namespace kumihimo
