#include "application/job_processes.hpp"

#include <algorithm>

namespace kumihimo::application {
namespace {

// By MPI_Allreduce and MPI_Iallreduce. The library adds in an order of its own; MPI only recommends that all ranks get
// the same bits, so a method may see ranks that disagree in the last bit.
class LibrarySums final : public krylov::Sums {
 public:
  explicit LibrarySums(const mpi_job::Job& job) : job_(job), library_(job.library()) {}

  Status sum(std::span<double> values) override {
    from_.assign(values.begin(), values.end());
    return library_.check(library_.call.Allreduce(from_.data(), values.data(), static_cast<int>(values.size()),
                                                  library_.datatype(DataType::float64),
                                                  library_.operation(Operation::sum), job_.world()),
                          "MPI_Allreduce");
  }

  Status start(std::span<double> values) override {
    from_.assign(values.begin(), values.end());
    return library_.check(library_.call.Iallreduce(from_.data(), values.data(), static_cast<int>(values.size()),
                                                   library_.datatype(DataType::float64),
                                                   library_.operation(Operation::sum), job_.world(), &request_),
                          "MPI_Iallreduce");
  }

  Status wait() override {
    return library_.check(library_.call.Wait(&request_, library_.constants.status_ignore), "MPI_Wait");
  }

 private:
  const mpi_job::Job& job_;
  const mpi::Library& library_;
  std::vector<double> from_;
  mpi::Handle request_ = 0;
};

} // namespace

Result<transport::Transport*> JobProcesses::transport() { return job_.transport({}); }

Result<std::unique_ptr<krylov::Sums>> JobProcesses::library_sums() {
  return std::unique_ptr<krylov::Sums>(std::make_unique<LibrarySums>(job_));
}

} // namespace kumihimo::application
