// Rows of models that read schedules: bound, cost, flow, exact.
#pragma once

#include "models/schedules.hpp"
#include "simulate/simulate.hpp"

namespace kumihimo::models {

// The programs of a question by simulate().
Result<Ran> run_simulate(const Question& question, const SimulateOptions& options);
Prediction with_schedule(Prediction prediction, SchedulePrediction found);

} // namespace kumihimo::models
