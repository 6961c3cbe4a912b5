#include "application/processes.hpp"

#include "mpi_job/printed_lines.hpp"

#include <nlohmann/json.hpp>

namespace kumihimo::application {

Result<std::unique_ptr<krylov::Sums>> OneProcess::library_sums() {
  return std::unique_ptr<krylov::Sums>(std::make_unique<krylov::SumsOfOne>());
}

void OneProcess::print(const nlohmann::json& line) { mpi_job::write_line(line); }

} // namespace kumihimo::application
