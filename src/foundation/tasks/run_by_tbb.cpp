#include "tasks/recorded_tasks.hpp"
#include "tasks/run_tasks.hpp"
#include "threads/team.hpp"

#ifdef KUMIHIMO_TBB
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#endif

#include <deque>

namespace kumihimo::tasks {

#ifdef KUMIHIMO_TBB
namespace {

using TaskNode = tbb::flow::continue_node<tbb::flow::continue_msg>;

void run_flow_graph(const TaskGraph& graph, const CriticalPaths& paths, RecordedTasks& tasks) {
  tbb::flow::graph flow;
  std::deque<TaskNode> nodes; // which cannot move
  for (TaskId id = 0; id < graph.size(); ++id) {
    const auto priority =
        static_cast<tbb::flow::node_priority_t>(1 + graph.size() - paths.urgency[static_cast<std::size_t>(id)]);
    const auto body = [&tasks, id](const tbb::flow::continue_msg&) {
      tasks.run(id, tbb::this_task_arena::current_thread_index());
      return tbb::flow::continue_msg();
    };
    nodes.emplace_back(flow, body, priority);
    for (const TaskId each : graph.before(id))
      tbb::flow::make_edge(nodes[static_cast<std::size_t>(each)], nodes.back());
  }
  for (TaskId id = 0; id < graph.size(); ++id)
    if (graph.before(id).empty()) nodes[static_cast<std::size_t>(id)].try_put(tbb::flow::continue_msg());
  flow.wait_for_all();
}

} // namespace

// In a thread apart: workers that the caller's thread starts would be bound to its processor.
Result<TaskLog> run_by_tbb(const TaskGraph& graph, int threads, const TaskWork& work) {
  const CriticalPaths paths(graph);
  std::optional<RecordedTasks> tasks;
  threads::run_apart(1, [&] {
    const tbb::global_control most(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    tbb::task_arena arena(threads);
    arena.initialize();
    tasks.emplace(work, threads);
    arena.execute([&] { run_flow_graph(graph, paths, *tasks); });
  });
  return tasks->log(graph);
}
#else
Result<TaskLog> run_by_tbb(const TaskGraph&, int, const TaskWork&) {
  return not_applicable("this build has no oneTBB", {}, "install it (Debian: libtbb-dev) and build again");
}
#endif

} // namespace kumihimo::tasks
