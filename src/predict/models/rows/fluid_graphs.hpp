// Graphs of operations and recordings whose messages share the network as fluids.
#pragma once

#include "models/model.hpp"

namespace kumihimo::models {

Result<Ran> run_fluid(std::string_view model, const Question& question, const Run& run,
                      const fluid::Tolerance& tolerance);

} // namespace kumihimo::models
