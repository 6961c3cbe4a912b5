// A failure of one rank while the others wait for it: rank 3 reduces a longer vector than the rest, which its parent in
// the tree alone learns of.
#include "bench_driver/tasks.hpp"
#include "checks.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace kumihimo::mpi {

void measure_unequal_counts(mpi_job::MpiJob& job) {
  const nlohmann::json one = {{"algorithm", "binomial"}, {"count", job.rank() == 3 ? 200 : 100}};
  const nlohmann::json task = {
      {"task", "measure"}, {"bound", false}, {"compare", false}, {"cases", nlohmann::json::array({one})}};
  const Result<bench_driver::BenchTask> read = bench_driver::parse_task(task.dump(), job.ranks());
  const Status status = read ? bench_driver::run_measure(job, *read) : Status(read.error());
  std::fprintf(stderr, "rank %d went on: %s\n", job.rank(), status ? "no error" : status.error().sentence().c_str());
}

} // namespace kumihimo::mpi
