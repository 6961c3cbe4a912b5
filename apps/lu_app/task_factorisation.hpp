// The factorisation by tasks on the threads of each rank, and what is told of its schedule.
#pragma once

#include "application/processes.hpp"
#include "base/json_member.hpp"
#include "lu_app/factorisation.hpp"
#include "tasks/injected_noise.hpp"
#include "tasks/task_log.hpp"

#include <string>
#include <utility>
#include <vector>

namespace kumihimo::lu_app {

// Of this rank.
struct TaskRun {
  tasks::TaskLog log;
  std::vector<std::string> names;  // of the tasks
  std::vector<std::int32_t> kinds; // of the tasks: places in kind_names
  std::vector<std::string> kind_names;
  std::vector<tasks::InjectedNoise::Taken> detours;
  int noisy_thread = 0;
};

// In place of factors.factor(), on all ranks: each has some tiles, and panels and rows come by messages. Noise is on
// the last rank. Every run is checked: each task once, after what it waits for. `blas` has one thread a call, and as
// many as the team afterwards. Errors: the matrix is singular or entries overflow, on all ranks; this build has no such
// runner.
Result<TaskRun> factor_by_tasks(LuFactorisation& factors, const LuProblem& problem, const LuRequest& request,
                                const blas::Blas& blas, application::Processes& processes);

// Of all ranks together.
struct TaskReport {
  std::vector<std::pair<std::string, std::string>> words; // for the user
  // On rank 0, in the form of docs/applications.md: the threads of the ranks one after the other, each rank's times
  // since its own start. Null: more tasks than a page can show.
  JsonMember timeline;
};
TaskReport report_of(const TaskRun& run, application::Processes& processes); // collective

} // namespace kumihimo::lu_app
