#include "lu_app/task_factorisation.hpp"

#include "lu/tiled.hpp"
#include "tasks/run_tasks.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace kumihimo::lu_app {
namespace {

using application::Processes;
using lu::TiledFactorisation;
using nlohmann::json;

constexpr double most_events = 20'000; // of all ranks

// Messages along the row and the column of this rank.
class TileMessages final : public tasks::TaskMessages {
 public:
  TileMessages(TiledFactorisation& tiles, LuFactorisation& factors) : tiles_(tiles), factors_(factors) {}

  Status begin(tasks::TaskId task) override {
    under_way_.push_back({task, {}, nullptr});
    switch (tiles_.step(task).kind) {
    case TiledFactorisation::Kind::tournament: return begin_tournament(under_way_.back());
    case TiledFactorisation::Kind::exchange: return begin_exchange(under_way_.back());
    default: return begin_panel(under_way_.back());
    }
  }

  Status poll(std::vector<tasks::TaskId>& ended) override {
    if (Status s = factors_.grid().row->poll(); !s) return s;
    if (Status s = factors_.grid().column->poll(); !s) return s;
    for (auto each = under_way_.begin(); each != under_way_.end();) {
      if (each->is_under_way()) {
        ++each;
        continue;
      }
      if (Status s = tiles_.finish_message(each->task); !s) return s;
      ended.push_back(each->task);
      each = under_way_.erase(each);
    }
    return Nothing{};
  }

 private:
  struct UnderWay {
    tasks::TaskId task = tasks::no_task;
    std::vector<std::unique_ptr<application::ProgramRun>> runs;
    application::ProgramRun* kept = nullptr;

    Status start(std::unique_ptr<application::ProgramRun> run, const execute::Buffers& buffers) {
      return runs.emplace_back(std::move(run))->start(buffers);
    }
    bool is_under_way() const {
      return (kept && kept->is_under_way()) || std::ranges::any_of(runs, &application::ProgramRun::is_under_way);
    }
  };

  Status begin_panel(UnderWay& made) {
    const lu::PanelMessage message = tiles_.message(made.task);
    return made.start(TRY(factors_.broadcast_of(message.length(), tiles_.sender(made.task))),
                      {message.data, message.data});
  }

  // Of two tournaments the second needs the first: one stream orders them. Exchanges have the other one.
  Status begin_tournament(UnderWay& made) {
    made.kept = TRY(factors_.tournament_of(tiles_.message(made.task).width));
    double* const record = tiles_.tournament(made.task).data();
    return made.kept->start({record, record});
  }

  Status begin_exchange(UnderWay& made) {
    constexpr transport::Stream stream = transport::Stream::nonblocking;
    application::SubCommunicator& column = *factors_.grid().column;
    const lu::RowMessage message = tiles_.exchange(made.task);
    const lu::RowExchange& rows = *message.rows;
    if (Status s =
            made.start(TRY(column.gather_run(rows.counts(message.columns), stream)), {message.given, message.got});
        !s || !rows.displaces_rows())
      return s;
    return made.start(TRY(column.scatter_run(rows.owner(), rows.displaced_counts(message.columns), stream)),
                      {message.left, message.taken});
  }

  TiledFactorisation& tiles_;
  LuFactorisation& factors_;
  std::vector<UnderWay> under_way_;
};

Result<tasks::TaskLog> run(LuVariant::Runner runner, const tasks::TaskGraph& graph, int threads,
                           const tasks::TaskWork& work, tasks::TaskMessages* messages) {
  switch (runner) {
  case LuVariant::Runner::openmp: return tasks::run_by_openmp(graph, threads, work, messages);
  case LuVariant::Runner::tbb: return tasks::run_by_tbb(graph, threads, work, messages);
  case LuVariant::Runner::own: break;
  }
  return tasks::run_tasks(graph, threads, work, messages);
}

double busy_seconds(const tasks::TaskLog& log) {
  double busy = 0;
  for (const tasks::TaskEvent& each : log.events)
    if (each.thread != tasks::no_thread) busy += 1e-9 * static_cast<double>(each.end - each.begin);
  return busy;
}

// Of the threads together, divided by their number.
LuTimes times_of(const tasks::TaskLog& log, const TiledFactorisation& tiles) {
  LuTimes times;
  const auto share = 1e-9 / static_cast<double>(log.threads);
  for (const tasks::TaskEvent& each : log.events) {
    if (each.thread == tasks::no_thread) continue;
    const TiledFactorisation::Step& step = tiles.step(each.task);
    const bool moves = step.kind == TiledFactorisation::Kind::rows;
    WorkTime& phase = moves                                           ? times.moves
                      : step.kind == TiledFactorisation::Kind::update ? times.updates
                                                                      : times.panels;
    phase.seconds += share * static_cast<double>(each.end - each.begin);
    if (!moves) phase.flops += tiles.operations(step);
    ++phase.calls;
  }
  times.waits = {1e-9 * static_cast<double>(log.end) - busy_seconds(log) / log.threads, 0, 1};
  return times;
}

json timeline_of(const TaskRun& run) {
  json events = json::array(), detours = json::array();
  std::vector<std::int32_t> thread_of(run.names.size());
  for (const tasks::TaskEvent& each : run.log.events) thread_of[static_cast<std::size_t>(each.task)] = each.thread;
  for (const tasks::TaskEvent& each : run.log.events) {
    if (each.thread == tasks::no_thread) continue;
    const bool waited = each.waited_for != tasks::no_task;
    events.push_back({each.thread, each.task, each.begin, each.end, each.idle, each.waited_for,
                      waited ? std::max(-1, thread_of[static_cast<std::size_t>(each.waited_for)]) : -1});
  }
  for (const tasks::InjectedNoise::Taken& each : run.detours)
    detours.push_back({run.noisy_thread, each.begin, each.end});
  return {{"threads", run.log.threads},   {"nanoseconds", run.log.end}, {"kinds", run.kind_names},
          {"tasks", run.names},           {"kind_of_task", run.kinds},  {"events", std::move(events)},
          {"detours", std::move(detours)}};
}

// Of all ranks, on each of them. Collective.
std::vector<std::string> gathered(const std::string& own, Processes& processes) {
  const auto rank = static_cast<std::size_t>(processes.rank());
  std::vector<double> lengths(static_cast<std::size_t>(processes.ranks()));
  lengths[rank] = static_cast<double>(own.size());
  lengths = processes.total(lengths);
  std::vector<double> letters;
  for (std::size_t r = 0; r < lengths.size(); ++r) {
    if (r == rank)
      letters.insert(letters.end(), own.begin(), own.end());
    else
      letters.insert(letters.end(), static_cast<std::size_t>(lengths[r]), 0.0);
  }
  letters = processes.total(letters);
  std::vector<std::string> all;
  auto at = letters.begin();
  for (const double length : lengths) {
    const auto end = at + static_cast<std::ptrdiff_t>(length);
    std::string& text = all.emplace_back();
    std::transform(at, end, std::back_inserter(text), [](double letter) { return static_cast<char>(letter); });
    at = end;
  }
  return all;
}

// One timeline of all: threads and tasks of the ranks one after the other.
json joined(const std::vector<std::string>& timelines) {
  json all;
  for (std::size_t rank = 0; rank < timelines.size(); ++rank) {
    json each = json::parse(timelines[rank]);
    const int threads = each["threads"], before = rank == 0 ? 0 : all["threads"].get<int>();
    for (int thread = 0; thread < threads; ++thread)
      all["lanes"].push_back(fmt::format("rank {}, thread {}", rank, thread));
    if (rank == 0) {
      json lanes = std::move(all["lanes"]);
      all = std::move(each);
      all["lanes"] = std::move(lanes);
      continue;
    }
    const std::size_t tasks = all["tasks"].size();
    for (json& event : each["events"]) {
      event[0] = event[0].get<int>() + before;
      event[1] = event[1].get<std::size_t>() + tasks;
      if (event[5] != -1) event[5] = event[5].get<std::size_t>() + tasks;
      if (event[6] != -1) event[6] = event[6].get<int>() + before;
    }
    for (json& detour : each["detours"]) detour[0] = detour[0].get<int>() + before;
    for (const char* const name : {"tasks", "kind_of_task", "events", "detours"})
      all[name].insert(all[name].end(), each[name].begin(), each[name].end());
    all["threads"] = before + threads;
    all["nanoseconds"] = std::max(all["nanoseconds"].get<std::int64_t>(), each["nanoseconds"].get<std::int64_t>());
  }
  return all;
}

} // namespace

Result<TaskRun> factor_by_tasks(LuFactorisation& factors, const LuProblem& problem, const LuRequest& request,
                                const blas::Blas& blas, Processes& processes) {
  const int team = threads::count();
  const ProcessGrid& grid = factors.grid();
  const int largest_team = static_cast<int>(processes.largest({static_cast<double>(team)})[0]);
  TiledFactorisation tiles(
      {factors.column(0), factors.leading(), problem.n, problem.block, grid.q, problem.q, grid.p, problem.p}, blas,
      largest_team, request.split);
  TaskRun made;
  made.noisy_thread = team - 1;
  const bool is_noisy = processes.rank() == processes.ranks() - 1;
  tasks::InjectedNoise noise(is_noisy ? request.noise : tasks::NoisePattern{}, made.noisy_thread);
  const tasks::TaskWork work = [&](tasks::TaskId task, int thread) { return tiles.run(task, thread); };
  const tasks::TaskWork noisy = noise.around(work);
  TileMessages messages(tiles, factors);
  noise.start();
  made.log = TRY(run(request.runner, tiles.graph(), team, noisy, processes.ranks() > 1 ? &messages : nullptr));
  if (Status s = check(made.log, tiles.graph(), request.runner == LuVariant::Runner::own); !s) return s.error();
  if (Status s = tiles.outcome(); !s) return s.error();
  factors.set_factored(tiles.pivots(), times_of(made.log, tiles));
  threads::run_apart(1, [&] { blas.set_threads(team); });
  made.kind_names.assign(tiles.kinds().begin(), tiles.kinds().end());
  for (tasks::TaskId id = 0; id < tiles.graph().size(); ++id) {
    made.kinds.push_back(static_cast<std::int32_t>(tiles.step(id).kind));
    made.names.push_back(tiles.name_of(id));
  }
  made.detours = noise.taken();
  return made;
}

TaskReport report_of(const TaskRun& run, Processes& processes) {
  double taken = 0;
  for (const tasks::InjectedNoise::Taken& each : run.detours)
    taken += 1e-9 * static_cast<double>(each.end - each.begin);
  const double available = run.log.threads * 1e-9 * static_cast<double>(run.log.end);
  const std::vector<double> all =
      processes.total({static_cast<double>(run.log.events.size()), static_cast<double>(run.log.threads),
                       busy_seconds(run.log), available, taken, static_cast<double>(run.detours.size())});
  TaskReport report;
  report.words = {{"tasks", fmt::format("{:.0f} on {:.0f} threads, which were idle for {:.1f} % of their time", all[0],
                                        all[1], 100 * (1 - all[2] / all[3]))}};
  if (all[4] > 0)
    report.words.emplace_back("injected noise",
                              fmt::format("{:.3g} s in {:.0f} detours of thread {}{}", all[4], all[5], run.noisy_thread,
                                          processes.ranks() > 1 ? " of the last rank" : ""));
  json timeline;
  if (all[0] <= most_events) {
    timeline = timeline_of(run);
    if (processes.ranks() > 1) timeline = joined(gathered(timeline.dump(), processes));
  }
  report.timeline = JsonMember(std::move(timeline));
  return report;
}

} // namespace kumihimo::lu_app
