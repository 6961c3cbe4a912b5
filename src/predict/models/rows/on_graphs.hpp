// Rows of models of graphs of operations: how an outcome becomes a prediction.
#pragma once

#include "models/schedules.hpp"
#include "replay/times.hpp"

namespace kumihimo::models {

template <class Outcome>
GraphRun graph_run(const Outcome& outcome, std::uint64_t messages) {
  return {outcome.last_rank, outcome.operations, messages};
}

// A recording's times as a prediction.
inline Prediction of_times(std::string_view model, replay::Times times) {
  Prediction prediction;
  prediction.model = model;
  prediction.seconds = seconds_of(times.total);
  prediction.run = {times.last_rank, times.operations, times.messages};
  prediction.times = std::move(times);
  return prediction;
}

// The machine with the factors of a question.
Job scaled_job(const Question& question);

} // namespace kumihimo::models
