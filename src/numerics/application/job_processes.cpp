#include "application/job_processes.hpp"

#include "application/library_sums.hpp"
#include "mpi/lost_ranks.hpp"
#include "mpi_transport/open_transport.hpp"

#include <utility>

namespace kumihimo::application {
namespace {

// On a communicator of its own, which outlives the transport.
class JobGroup final : public ProcessGroup {
 public:
  static Result<std::unique_ptr<JobGroup>> make(mpi_job::MpiJob& job, std::int32_t colour) {
    std::unique_ptr<JobGroup> made(new JobGroup(job));
    const mpi::Functions& call = job.library().call;
    if (Status s = job.library().check(call.Comm_split(job.world(), colour, job.rank(), &made->communicator_),
                                       "MPI_Comm_split");
        !s)
      return s.error();
    call.Comm_rank(made->communicator_, &made->rank_);
    call.Comm_size(made->communicator_, &made->ranks_);
    std::vector<std::int64_t> members(static_cast<std::size_t>(made->ranks_));
    const std::int64_t own = job.rank();
    const mpi::Handle type = job.library().datatype(DataType::int64);
    const int code = call.Allgather(&own, 1, type, members.data(), 1, type, made->communicator_);
    if (Status s = job.library().check(code, "MPI_Allgather"); !s) return s.error();
    for (const std::int64_t rank : members) {
      made->nodes_.node_of_rank.push_back(job.nodes().node_of_rank[static_cast<std::size_t>(rank)]);
      if (job.nodes().shape)
        made->nodes_.place_of_rank.push_back(job.nodes().place_of_rank[static_cast<std::size_t>(rank)]);
    }
    made->nodes_.shape = job.nodes().shape;
    if (made->ranks_ > 1)
      made->transport_ =
          TRY(mpi_transport::open_transport(job.library(), made->communicator_, job.usual_transport(made->ranks_)));
    return made;
  }
  ~JobGroup() override {
    transport_.reset();
    if (communicator_ != 0 && !mpi::has_noticed_loss()) job_.library().call.Comm_free(&communicator_);
  }
  std::int32_t rank() const override { return rank_; }
  std::int32_t ranks() const override { return ranks_; }
  std::vector<std::int64_t> node_of_rank() const override { return nodes_.node_of_rank; }
  RankSpace space() const override { return nodes_.space(); }
  Result<transport::Transport*> transport() override { return transport_.get(); }
  Result<std::unique_ptr<ArrayExchange>> library_arrays(const std::vector<ArrayBox>& to,
                                                        const std::vector<ArrayBox>& from) override {
    return LibraryArrays::make(job_.library(), communicator_, to, from);
  }

 private:
  explicit JobGroup(mpi_job::MpiJob& job) : job_(job) {}
  mpi_job::MpiJob& job_;
  mpi::Handle communicator_ = 0;
  std::int32_t rank_ = 0, ranks_ = 1;
  mpi_job::Nodes nodes_;                            // without names
  std::unique_ptr<transport::Transport> transport_; // null: one process
};

} // namespace

Result<transport::Transport*> JobProcesses::transport() { return job_.transport(job_.usual_transport(job_.ranks())); }

Result<std::unique_ptr<ProcessGroup>> JobProcesses::split(std::int32_t colour) {
  Result<std::unique_ptr<JobGroup>> made = JobGroup::make(job_, colour);
  if (Status s = job_.agree(made); !s) return s.error();
  return std::unique_ptr<ProcessGroup>(std::move(*made));
}

Result<std::unique_ptr<krylov::Sums>> JobProcesses::library_sums() {
  return std::unique_ptr<krylov::Sums>(std::make_unique<LibrarySums>(job_.library(), job_.world()));
}

} // namespace kumihimo::application
