// A failure of one rank while the others wait for it: rank 3 reduces a longer vector than the rest, which its parent in
// the tree alone learns of.
#include "checks.hpp"
#include "worker/measure_task.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace kumihimo::mpi {

void measure_unequal_counts(worker::Job& job) {
  const nlohmann::json one = {{"algorithm", "binomial"}, {"count", job.rank() == 3 ? 200 : 100}};
  const nlohmann::json task = {
      {"task", "measure"}, {"bound", false}, {"compare", false}, {"cases", nlohmann::json::array({one})}};
  const Result<worker::Task> read = worker::parse_task(task.dump(), job.ranks());
  const Status status = read ? worker::run_measure(job, *read) : Status(read.error());
  std::fprintf(stderr, "rank %d went on: %s\n", job.rank(), status ? "no error" : status.error().sentence().c_str());
}

} // namespace kumihimo::mpi
