// The parameters of LogGOPS for a question: those of its machine, but for what its options give.
#pragma once

#include "loggp/parameters.hpp"
#include "models/model.hpp"

namespace kumihimo::models {

struct LogGopsModel {
  loggp::LogGopsParameters parameters;
  goal::WorkRates rates;
};

// Errors: no machine and not all parameters; a number out of range.
Result<LogGopsModel> loggops_of(const Question& question);

// The subject with these parameters, by the engine of LogGOPS; `name`: of the model.
Result<Ran> run_with_loggops(std::string_view name, const LogGopsModel& model, const Question& question,
                             const Run& run);

} // namespace kumihimo::models
