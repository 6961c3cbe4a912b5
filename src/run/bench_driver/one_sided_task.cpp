#include "bench_driver/tasks.hpp"
#include "mpi_transport/networks/rank_memory.hpp"
#include "one_sided/backends.hpp"

#include <nlohmann/json.hpp>

#include <memory>
#include <thread>
#include <utility>

namespace kumihimo::bench_driver {
namespace {

class JobPeers final : public one_sided::OneSidedPeers {
 public:
  explicit JobPeers(MpiJob& job) : job_(job) {}
  std::int32_t rank() const override { return job_.rank(); }
  std::int32_t ranks() const override { return job_.ranks(); }
  std::vector<std::int64_t> node_of_rank() const override { return job_.nodes().node_of_rank; }
  std::vector<std::int64_t> gather(std::int64_t mine) override { return meet(), job_.gather(mine); }
  double largest(double mine) override { return meet(), job_.largest({mine})[0]; }
  Status agree(const Status& mine) override { return meet(), job_.agree(mine); }
  void print(const nlohmann::json& object) override { job_.print(object); }

  // From now on this rank takes part in the puts of others until all ranks have come to a call of these.
  void use(transport::Transport& transport) { transport_ = &transport; }

 private:
  void meet() {
    if (!transport_) return;
    const mpi::Library& library = job_.library();
    mpi::Handle request = library.constants.request_null;
    if (library.call.Ibarrier(job_.world(), &request) != 0) return;
    for (int done = 0; library.call.Test(&request, &done, library.constants.status_ignore) == 0 && !done;)
      if (transport_->progress() != transport::Transport::Progress::moved) // after a failure the others are told, too
        std::this_thread::yield();
  }

  MpiJob& job_;
  transport::Transport* transport_ = nullptr; // that moves only while it is called
};

} // namespace

Status run_one_sided(MpiJob& job, const BenchTask& task) {
  const Result<one_sided::OneSidedBackend> row = one_sided::find_backend(task.one_sided->backend);
  if (!row) return row.error();
  JobPeers peers(job);
  one_sided::OneSidedContext context{job.library(), job.world(), peers};
  std::unique_ptr<mpi_transport::RankMemory> memory;
  if (row->name == "own") {
    Result<std::unique_ptr<mpi_transport::RankMemory>> opened =
        mpi_transport::RankMemory::open(job.library(), job.world());
    if (Status s = job.agree(opened); !s) return s.error();
    memory = std::move(*opened);
    context.transport = &memory->transport();
    peers.use(*context.transport);
  }
  return row->measure(context, *task.one_sided);
}

} // namespace kumihimo::bench_driver
