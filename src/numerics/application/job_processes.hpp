// The processes of an MPI job.
#pragma once

#include "application/processes.hpp"
#include "mpi_job/job.hpp"

#include <string>

namespace kumihimo::application {

class JobProcesses final : public Processes {
 public:
  explicit JobProcesses(mpi_job::MpiJob& job) : job_(job) {}
  std::int32_t rank() const override { return job_.rank(); }
  std::int32_t ranks() const override { return job_.ranks(); }
  std::vector<std::int64_t> node_of_rank() const override { return job_.nodes().node_of_rank; }
  RankSpace space() const override { return job_.nodes().space(); }
  Result<transport::Transport*> transport() override;
  Result<std::unique_ptr<ProcessGroup>> split(std::int32_t colour) override;
  Result<std::unique_ptr<krylov::Sums>> library_sums() override;
  Result<std::unique_ptr<ArrayExchange>> library_arrays(const std::vector<ArrayBox>& to,
                                                        const std::vector<ArrayBox>& from) override {
    return LibraryArrays::make(job_.library(), job_.world(), to, from);
  }
  Status agree(const Status& mine) override { return job_.agree(mine); }
  std::vector<double> largest(const std::vector<double>& mine) override { return job_.largest(mine); }
  std::vector<double> total(const std::vector<double>& mine) override { return job_.sum(mine); }
  void barrier() override { job_.barrier(); }
  void give_up(const Error& error) override {
    if (ranks() > 1) job_.give_up(error);
  }
  void print(const nlohmann::json& line) override { job_.print(line); }
  std::string message_library() const override { return job_.library().version; }

 private:
  mpi_job::MpiJob& job_;
};

} // namespace kumihimo::application
