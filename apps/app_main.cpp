// kumihimo-app list                prints {"applications": [...]}
// kumihimo-app shares NAME SIZE    prints {"shares": [{"size": "32x32x32", "work": 64, "iterations": 4}, ...]}
// kumihimo-app TASK                runs the task file (application/request.hpp), on every rank if a
// launcher started it. Rank 0 prints one JSON object a line: about, progress, results, or an error. A task without an
// MPI library runs on this process alone, and no MPI library is opened.
#include "application/job_processes.hpp"
#include "application/run_task.hpp"
#include "application/spare_ranks.hpp"
#include "applications.hpp"
#include "mpi_job/printed_lines.hpp"
#include "mpi_job/task_file.hpp"
#include "threads/team.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <memory>
#include <new>
#include <string>

using namespace kumihimo;
using namespace kumihimo::application;

namespace {

int complain(const Error& error) {
  mpi_job::write_line(mpi_job::to_json(error));
  return 1;
}

int list() {
  nlohmann::json rows = nlohmann::json::array();
  for (const Application& each : applications()) rows.push_back(application::to_json(each));
  mpi_job::write_line({{"applications", std::move(rows)}});
  return 0;
}

int print_shares(const char* name, const char* size) {
  const Result<const Application*> found = find_application(applications(), name);
  if (!found) return complain(found.error());
  nlohmann::json shares = nlohmann::json::array();
  if ((*found)->shares)
    for (const ProblemShare& each : (*found)->shares(size))
      shares.push_back({{"size", each.size}, {"work", each.work}, {"iterations", each.iterations}});
  mpi_job::write_line({{"shares", std::move(shares)}});
  return 0;
}

// Ranks that share processors share them equally.
Result<std::string> use_threads(int asked, const mpi_job::LocalRank& local) {
  const int processors = static_cast<int>(threads::allowed_processors().size());
  const int count = asked > 0 ? asked : std::max(1, processors / std::max(1, local.ranks));
  if (Status s = threads::use(count); !s) return s.error();
  return threads::bind(local.rank);
}

// An error here is known to all ranks.
Status work(const ApplicationTask& task, Processes& processes, const mpi_job::LocalRank& local,
            KeptCopies* kept = nullptr) {
  const Result<std::string> bound = use_threads(task.threads, local);
  if (Status s = processes.agree_on(bound); !s) return s;
  return run_task(task, processes, *bound, kept);
}

int run_alone(const std::string& text) {
  OneProcess one;
  const Result<ApplicationTask> task = parse_task(text, applications());
  if (!task) return complain(task.error());
  if (const Status s = work(*task, one, {}); !s) return complain(s.error());
  return 0;
}

Status run_on(mpi_job::MpiJob& job, const std::string& text) {
  const Result<ApplicationTask> task = parse_task(text, applications());
  JobProcesses processes(job);
  if (Status s = processes.agree_on(task); !s) return s;
  if (task->checkpoints.spares == 0) return work(*task, processes, job.among_sharers());
  return run_with_spares(job, task->checkpoints.spares, [&](mpi_job::MpiJob& own, Processes& places, KeptCopies& kept) {
    threads::unbind(); // of the run before a death
    return work(*task, places, own.among_sharers(), &kept);
  });
}

int run(const char* path, std::unique_ptr<mpi_job::MpiJob>& job) {
  const Result<std::string> text = mpi_job::read_task(path);
  if (!text) return complain(text.error());
  const Result<std::string> library = library_of_task(*text);
  if (!library) return complain(library.error());
  if (library->empty()) return run_alone(*text);
  Result<std::unique_ptr<mpi_job::MpiJob>> started = mpi_job::MpiJob::start(*library);
  if (!started) return complain(started.error());
  job = std::move(*started);
  if (const Status s = run_on(*job, *text); !s) job->print(s.error());
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc == 4 && std::string(argv[1]) == "shares") return print_shares(argv[2], argv[3]);
  if (argc != 2)
    return std::fputs("usage: kumihimo-app list | shares NAME SIZE | TASK, for several ranks under mpirun\n", stderr),
           2;
  if (std::string(argv[1]) == "list") return list();
  std::signal(SIGXFSZ, SIG_IGN); // a file beyond the limit of its size (ulimit -f) is an error of write, not the end
  std::unique_ptr<mpi_job::MpiJob> job;
  try {
    return run(argv[1], job);
  } catch (const std::bad_alloc&) {
    const Error error = failed("out of memory", {}, "use a smaller --size or more ranks");
    if (job) job->give_up(error);
    return complain(error);
  }
}
