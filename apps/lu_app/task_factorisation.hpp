// The factorisation by tasks on the threads of one rank, and what is told of its schedule.
#pragma once

#include "lu_app/factorisation.hpp"
#include "tasks/injected_noise.hpp"
#include "tasks/task_log.hpp"

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <utility>
#include <vector>

namespace kumihimo::lu_app {

struct TaskRun {
  tasks::TaskLog log;
  std::vector<std::string> names;  // of the tasks
  std::vector<std::int32_t> kinds; // of the tasks: places in TiledFactorisation::kind_names
  std::vector<tasks::InjectedNoise::Taken> detours;
  int noisy_thread = 0;
};

// In place of factors.factor(). Every run is checked: each task once, after what it waits for. `blas` has one thread a
// call, and as many as the team afterwards. Errors: the matrix is singular; this build has no such runner.
Result<TaskRun> factor_by_tasks(LuFactorisation& factors, const LuProblem& problem, const LuRequest& request,
                                const blas::Blas& blas);

std::vector<std::pair<std::string, std::string>> words_of(const TaskRun& run); // for the user
// The form of docs/applications.md. Null: more tasks than a page can show.
nlohmann::json timeline_of(const TaskRun& run);

} // namespace kumihimo::lu_app
