#include "lu_app/task_factorisation.hpp"

#include "lu/tiled.hpp"
#include "tasks/run_tasks.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kumihimo::lu_app {
namespace {

using lu::TiledFactorisation;
using nlohmann::json;

constexpr std::size_t most_events = 20'000;

Result<tasks::TaskLog> run(LuVariant::Runner runner, const tasks::TaskGraph& graph, int threads,
                           const tasks::TaskWork& work) {
  switch (runner) {
  case LuVariant::Runner::openmp: return tasks::run_by_openmp(graph, threads, work);
  case LuVariant::Runner::tbb: return tasks::run_by_tbb(graph, threads, work);
  case LuVariant::Runner::own: break;
  }
  return tasks::run_tasks(graph, threads, work);
}

// Of the threads together, divided by their number.
LuTimes times_of(const tasks::TaskLog& log, const TiledFactorisation& tiles) {
  LuTimes times;
  const auto share = 1e-9 / static_cast<double>(log.threads);
  double busy = 0;
  for (const tasks::TaskEvent& each : log.events) {
    const TiledFactorisation::Step& step = tiles.step(each.task);
    WorkTime& phase = step.kind == TiledFactorisation::Kind::update ? times.updates : times.panels;
    const double seconds = share * static_cast<double>(each.end - each.begin);
    phase.seconds += seconds;
    phase.flops += tiles.operations(step);
    ++phase.calls;
    busy += seconds;
  }
  times.waits = {1e-9 * static_cast<double>(log.end) - busy, 0, 1};
  return times;
}

double idle_share(const tasks::TaskLog& log) {
  double busy = 0;
  for (const tasks::TaskEvent& each : log.events) busy += static_cast<double>(each.end - each.begin);
  return 1 - busy / (static_cast<double>(log.threads) * static_cast<double>(log.end));
}

} // namespace

Result<TaskRun> factor_by_tasks(LuFactorisation& factors, const LuProblem& problem, const LuRequest& request,
                                const blas::Blas& blas) {
  const int team = threads::count();
  TiledFactorisation tiles({factors.column(0), factors.leading(), problem.n, problem.block}, blas, team, request.split);
  TaskRun made{.log = {}, .names = {}, .kinds = {}, .detours = {}, .noisy_thread = team - 1};
  tasks::InjectedNoise noise(request.noise, made.noisy_thread);
  const tasks::TaskWork work = [&](tasks::TaskId task, int thread) { return tiles.run(task, thread); };
  const tasks::TaskWork noisy = noise.around(work);
  noise.start();
  made.log = TRY(run(request.runner, tiles.graph(), team, noisy));
  if (Status s = check(made.log, tiles.graph(), request.runner == LuVariant::Runner::own); !s) return s.error();
  factors.set_factored(tiles.pivots(), times_of(made.log, tiles));
  threads::run_apart(1, [&] { blas.set_threads(team); });
  for (tasks::TaskId id = 0; id < tiles.graph().size(); ++id) {
    made.kinds.push_back(static_cast<std::int32_t>(tiles.step(id).kind));
    if (made.log.events.size() <= most_events) made.names.push_back(tiles.name_of(id));
  }
  made.detours = noise.taken();
  return made;
}

std::vector<std::pair<std::string, std::string>> words_of(const TaskRun& run) {
  std::vector<std::pair<std::string, std::string>> words = {
      {"tasks", fmt::format("{} on {} threads, which were idle for {:.1f} % of their time", run.log.events.size(),
                            run.log.threads, 100 * idle_share(run.log))}};
  double taken = 0;
  for (const tasks::InjectedNoise::Taken& each : run.detours)
    taken += 1e-9 * static_cast<double>(each.end - each.begin);
  if (taken > 0)
    words.emplace_back("injected noise",
                       fmt::format("{:.3g} s in {} detours of thread {}", taken, run.detours.size(), run.noisy_thread));
  return words;
}

json timeline_of(const TaskRun& run) {
  if (run.log.events.size() > most_events) return {};
  json events = json::array(), detours = json::array();
  std::vector<std::int32_t> thread_of(run.names.size());
  for (const tasks::TaskEvent& each : run.log.events) thread_of[static_cast<std::size_t>(each.task)] = each.thread;
  for (const tasks::TaskEvent& each : run.log.events) {
    const bool waited = each.waited_for != tasks::no_task;
    events.push_back({each.thread, each.task, each.begin, each.end, each.idle, each.waited_for,
                      waited ? thread_of[static_cast<std::size_t>(each.waited_for)] : -1});
  }
  for (const tasks::InjectedNoise::Taken& each : run.detours)
    detours.push_back({run.noisy_thread, each.begin, each.end});
  return {{"threads", run.log.threads},   {"nanoseconds", run.log.end}, {"kinds", TiledFactorisation::kind_names},
          {"tasks", run.names},           {"kind_of_task", run.kinds},  {"events", std::move(events)},
          {"detours", std::move(detours)}};
}

} // namespace kumihimo::lu_app
