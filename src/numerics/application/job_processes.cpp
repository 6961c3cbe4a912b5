#include "application/job_processes.hpp"

#include "application/library_sums.hpp"

namespace kumihimo::application {

Result<transport::Transport*> JobProcesses::transport() { return job_.transport({}); }

Result<std::unique_ptr<krylov::Sums>> JobProcesses::library_sums() {
  return std::unique_ptr<krylov::Sums>(std::make_unique<LibrarySums>(job_.library(), job_.world()));
}

} // namespace kumihimo::application
