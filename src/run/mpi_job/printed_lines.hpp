// The lines of JSON that a launched program prints on stdout for the command that started it.
#pragma once

#include "base/result.hpp"

#include <nlohmann/json_fwd.hpp>

namespace kumihimo::mpi_job {

// One line, flushed.
void write_line(const nlohmann::json& object);

// {"error": {"kind", "problem", "advice", "elsewhere"}}
nlohmann::json to_json(const Error& error);

} // namespace kumihimo::mpi_job
