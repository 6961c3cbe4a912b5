#include "bench_driver/tasks.hpp"
#include "one_sided/backends.hpp"

#include <nlohmann/json.hpp>

namespace kumihimo::bench_driver {
namespace {

class JobPeers final : public one_sided::OneSidedPeers {
 public:
  explicit JobPeers(MpiJob& job) : job_(job) {}
  std::int32_t rank() const override { return job_.rank(); }
  std::int32_t ranks() const override { return job_.ranks(); }
  std::vector<std::int64_t> node_of_rank() const override { return job_.nodes().node_of_rank; }
  std::vector<std::int64_t> gather(std::int64_t mine) override { return job_.gather(mine); }
  double largest(double mine) override { return job_.largest({mine})[0]; }
  Status agree(const Status& mine) override { return job_.agree(mine); }
  void print(const nlohmann::json& object) override { job_.print(object); }

 private:
  MpiJob& job_;
};

} // namespace

Status run_one_sided(MpiJob& job, const BenchTask& task) {
  const Result<one_sided::OneSidedBackend> row = one_sided::find_backend(task.one_sided->backend);
  if (!row) return row.error();
  JobPeers peers(job);
  one_sided::OneSidedContext context{job.library(), job.world(), peers};
  if (row->name == "own") {
    const Result<transport::Transport*> transport = job.transport(task.transport);
    if (!transport) return transport.error();
    context.transport = *transport;
  }
  return row->measure(context, *task.one_sided);
}

} // namespace kumihimo::bench_driver
