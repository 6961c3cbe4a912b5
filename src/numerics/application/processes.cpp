#include "application/processes.hpp"

#include "mpi_job/printed_lines.hpp"

#include <nlohmann/json.hpp>

namespace kumihimo::application {

Result<std::unique_ptr<krylov::Sums>> OneProcess::library_sums() {
  return std::unique_ptr<krylov::Sums>(std::make_unique<krylov::SumsOfOne>());
}

Result<std::unique_ptr<ArrayExchange>> OneProcess::library_arrays(const std::vector<ArrayBox>&,
                                                                  const std::vector<ArrayBox>&) {
  return not_applicable("one process without MPI has no datatypes", {}, "use several ranks or another variant");
}

void OneProcess::print(const nlohmann::json& line) { mpi_job::write_line(line); }

} // namespace kumihimo::application
