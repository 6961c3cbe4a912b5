#include "tasks/callers_messages.hpp"
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

using tbb::flow::continue_msg;
using TaskNode = tbb::flow::continue_node<continue_msg>;

class FlowGraph {
 public:
  FlowGraph(const TaskGraph& graph, const CriticalPaths& paths, RecordedTasks& tasks, CallersMessages* messages)
      : graph_(graph), tasks_(tasks), messages_(messages), arrivals_(static_cast<std::size_t>(graph.size())) {
    for (TaskId id = 0; id < graph.size(); ++id) {
      const auto priority =
          static_cast<tbb::flow::node_priority_t>(1 + graph.size() - paths.urgency[static_cast<std::size_t>(id)]);
      nodes_.emplace_back(
          flow_, [this, id](const continue_msg&) { return run(id), continue_msg(); }, priority);
      if (is_message(id)) arrivals_[static_cast<std::size_t>(id)].emplace(flow_);
      for (const TaskId each : graph.before(id)) {
        const auto from = static_cast<std::size_t>(each);
        if (is_message(each))
          tbb::flow::make_edge(*arrivals_[from], nodes_.back());
        else
          tbb::flow::make_edge(nodes_[from], nodes_.back());
      }
    }
  }

  void run_all() {
    for (TaskId id = 0; id < graph_.size(); ++id)
      if (graph_.before(id).empty()) nodes_[static_cast<std::size_t>(id)].try_put(continue_msg());
    flow_.wait_for_all();
  }

 private:
  bool is_message(TaskId id) const { return graph_.task(id).owner == no_thread; }
  void run(TaskId id) {
    if (!is_message(id)) return tasks_.run(id, tbb::this_task_arena::current_thread_index());
    flow_.reserve_wait();
    messages_->put(id, [this, id] {
      arrivals_[static_cast<std::size_t>(id)]->try_put(continue_msg());
      flow_.release_wait();
    });
  }

  const TaskGraph& graph_;
  RecordedTasks& tasks_;
  CallersMessages* messages_;
  tbb::flow::graph flow_;
  std::deque<TaskNode> nodes_;                                                  // which cannot move
  std::deque<std::optional<tbb::flow::broadcast_node<continue_msg>>> arrivals_; // of messages
};

} // namespace

// In a thread apart: workers that the caller's thread starts would be bound to its processor.
Result<TaskLog> run_by_tbb(const TaskGraph& graph, int threads, const TaskWork& work, TaskMessages* messages) {
  const CriticalPaths paths(graph);
  RecordedTasks tasks(work, threads);
  const auto run = [&](CallersMessages* callers) {
    const tbb::global_control most(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    tbb::task_arena arena(threads);
    arena.execute([&] { FlowGraph(graph, paths, tasks, callers).run_all(); });
  };
  if (messages) {
    CallersMessages callers(tasks, *messages);
    callers.poll_beside(1, [&] { run(&callers); });
  } else {
    threads::run_apart(1, [&] { run(nullptr); });
  }
  return tasks.log(graph);
}
#else
Result<TaskLog> run_by_tbb(const TaskGraph&, int, const TaskWork&, TaskMessages*) {
  return not_applicable("this build has no oneTBB", {}, "install it (Debian: libtbb-dev) and build again");
}
#endif

} // namespace kumihimo::tasks
