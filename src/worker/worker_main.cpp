// kumihimo-worker TASK: started on every rank by mpirun; TASK is the path of a task file (worker/task.hpp). Rank 0
// prints one JSON object a line: first what the job is, then a result for each case, or an error.
#include "worker/calibrate.hpp"
#include "worker/check.hpp"
#include "worker/measure_task.hpp"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <fstream>
#include <iterator>

using namespace kumihimo;
using namespace kumihimo::worker;

namespace {

int complain(const Error& error) {
  std::puts(to_json(error).dump().c_str());
  return 1;
}

nlohmann::json describe(const Job& job) {
  return {{"about",
           {{"mpi", job.library().version},
            {"family", mpi::name_of(job.library().family)},
            {"library", job.library().path},
            {"ranks", job.ranks()},
            {"pinning", job.pinning()},
            {"processors", job.processors()}}}};
}

Status work(Job& job, const Task& task) {
  switch (task.kind) {
  case Task::Kind::check:
    return run_check(job, task);
  case Task::Kind::measure:
    return run_measure(job, task);
  case Task::Kind::calibrate:
    return run_calibration(job, task);
  }
  return Nothing{};
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 2) return std::fputs("usage: kumihimo-worker TASK, under mpirun\n", stderr), 2;
  std::ifstream file(argv[1]);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const Result<std::string> library = library_of_task(text);
  if (!library) return complain(library.error());
  const Result<std::unique_ptr<Job>> job = Job::start(*library);
  if (!job) return complain(job.error());
  const Result<Task> task = parse_task(text, (*job)->ranks());
  if (!task) return (*job)->print(task.error()), 0;
  if (task->pins) (*job)->pin();
  (*job)->print(describe(**job));
  const Status status = work(**job, *task);
  if (!(*job)->notes().empty()) (*job)->print(nlohmann::json{{"notes", (*job)->notes()}});
  if (!status) (*job)->print(status.error());
  return 0;
}
