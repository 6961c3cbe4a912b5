// kumihimo-bench-driver TASK: started on every rank by mpirun; TASK is the path of a task file (bench_driver/task.hpp).
// Rank 0 prints one JSON object a line: first what the job is, then a result for each case, or an error. A rank whose
// failure the others cannot learn of prints it itself, and ends the job.
#include "base/json_text.hpp"
#include "bench_driver/check.hpp"
#include "bench_driver/memory.hpp"
#include "bench_driver/program_task.hpp"
#include "bench_driver/tasks.hpp"
#include "file_bench/file_task.hpp"
#include "mpi_job/task_file.hpp"
#include "plan/kernels/wisdom.hpp"

#include <nlohmann/json.hpp>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <new>

using namespace kumihimo;
using namespace kumihimo::bench_driver;

namespace {

int complain(const Error& error) {
  std::puts(text_of_json(mpi_job::to_json(error)).c_str());
  return 1;
}

nlohmann::json describe(const MpiJob& job, const BenchTask& task) {
  nlohmann::json about = {{"mpi", job.library().version},  {"family", mpi::name_of(job.library().family)},
                          {"library", job.library().path}, {"ranks", job.ranks()},
                          {"pinning", job.pinning()},      {"processors", job.processors()}};
  about.update(to_json(job.launched_nodes()));
  if (!task.process_of_rank.empty()) about["process_of_rank"] = task.process_of_rank;
  return {{"about", std::move(about)}};
}

Status do_task(MpiJob& job, const BenchTask& task) {
  switch (task.kind) {
  case BenchTask::Kind::check:
    if (Status s = run_check(job, task); !s) return s;
    return run_program_checks(job, task);
  case BenchTask::Kind::measure:
    if (Status s = run_measure(job, task); !s) return s;
    return measure_programs(job, task);
  case BenchTask::Kind::rehearse: return run_rehearsal(job, task);
  case BenchTask::Kind::calibrate: return run_calibration(job, task);
  case BenchTask::Kind::library: return run_library(job, task);
  case BenchTask::Kind::files: return file_bench::run_file_task(job, task.files);
  case BenchTask::Kind::one_sided: return run_one_sided(job, task);
  }
  return Nothing{};
}

// An error here is known to all ranks.
Status work(MpiJob& job, const std::string& text) {
  const Result<std::vector<std::int32_t>> order = order_of_task(text, job.ranks());
  if (Status s = job.agree(order); !s) return s;
  if (!order->empty())
    if (Status s = job.agree(job.reorder(*order)); !s) return s;
  const Result<BenchTask> task = parse_task(text, job.ranks(), job.nodes());
  if (Status s = job.agree(task); !s) return s;
  if (task->pins) job.pin();
  // Kernels as programs run them; a file that is not for this node leaves them untuned.
  if (const char* const kernels = std::getenv("KUMIHIMO_KERNELS"))
    static_cast<void>(plan::use_kernel_wisdom(kernels).ok());
  job.print(describe(job, *task));
  const Status status = do_task(job, *task);
  if (!job.notes().empty()) job.print(nlohmann::json{{"notes", job.notes()}});
  return status;
}

int run(const char* path, std::unique_ptr<MpiJob>& job) {
  const Result<std::string> text = mpi_job::read_task(path);
  if (!text) return complain(text.error());
  const Result<std::string> library = library_of_task(*text);
  if (!library) return complain(library.error());
  Result<std::unique_ptr<MpiJob>> started = MpiJob::start(*library);
  if (!started) return complain(started.error());
  job = std::move(*started);
  const Status status = work(*job, *text);
  if (!status) job->print(status.error());
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: kumihimo-bench-driver TASK, under mpirun\n", stderr), 2;
  std::signal(SIGXFSZ, SIG_IGN); // a file beyond the limit of its size (ulimit -f) is an error of write, not the end
  std::unique_ptr<MpiJob> job;
  try {
    return run(argv[1], job);
  } catch (const std::bad_alloc&) { // where nobody has foreseen it
    const Error error = out_of_memory("the task");
    if (job) job->give_up(error);
    return complain(error);
  }
}
