#include "tasks/task_log.hpp"

#include <algorithm>
#include <string>

namespace kumihimo::tasks {
namespace {

std::vector<const TaskEvent*> by_task(const TaskLog& log, const TaskGraph& graph) {
  std::vector<const TaskEvent*> found(static_cast<std::size_t>(graph.size()));
  for (const TaskEvent& each : log.events) found[static_cast<std::size_t>(each.task)] = &each;
  return found;
}

Error broken(const std::string& rule, TaskId task) { return failed("task " + std::to_string(task) + " " + rule); }

Status check_counts(const TaskLog& log, const TaskGraph& graph) {
  std::vector<int> runs(static_cast<std::size_t>(graph.size()));
  for (const TaskEvent& each : log.events) {
    if (each.task < 0 || each.task >= graph.size()) return broken("is not in the graph", each.task);
    ++runs[static_cast<std::size_t>(each.task)];
  }
  for (TaskId id = 0; id < graph.size(); ++id)
    if (const int n = runs[static_cast<std::size_t>(id)]; n != 1)
      return broken("ran " + std::to_string(n) + " times", id);
  return Nothing{};
}

Status check_threads(const TaskLog& log, const TaskGraph& graph, bool keeps_owners) {
  std::vector<std::int64_t> free_at(static_cast<std::size_t>(log.threads));
  for (const TaskEvent& each : log.events) {
    const std::int32_t owner = graph.task(each.task).owner;
    if ((owner == no_thread) != (each.thread == no_thread))
      return broken(owner == no_thread ? "ran on a thread, and is a message" : "ran as a message", each.task);
    if (owner == no_thread) {
      if (each.end < each.begin) return broken("ended before it began", each.task);
      continue;
    }
    if (each.thread < 0 || each.thread >= log.threads) return broken("ran on no thread of the run", each.task);
    if (keeps_owners && owner != any_thread && owner % log.threads != each.thread)
      return broken("ran on another thread than its owner", each.task);
    std::int64_t& at = free_at[static_cast<std::size_t>(each.thread)];
    if (each.begin < at || each.end < each.begin) return broken("began before its thread was free", each.task);
    at = each.end;
  }
  return Nothing{};
}

} // namespace

void add_waits(TaskLog& log, const TaskGraph& graph) {
  const std::vector<const TaskEvent*> events = by_task(log, graph);
  std::vector<std::int64_t> free_at(static_cast<std::size_t>(log.threads));
  for (TaskEvent& each : log.events) {
    if (each.thread == no_thread) continue;
    std::int64_t& free = free_at[static_cast<std::size_t>(each.thread)];
    each.idle = each.begin - free;
    const TaskEvent* last = nullptr; // of those that it depends on
    for (const TaskId before : graph.before(each.task))
      if (const TaskEvent* const event = events[static_cast<std::size_t>(before)];
          event && (!last || event->end > last->end))
        last = event;
    each.waited_for = last && last->end > free ? last->task : no_task;
    free = each.end;
  }
}

Status check(const TaskLog& log, const TaskGraph& graph, bool keeps_owners) {
  if (Status s = check_counts(log, graph); !s) return s;
  const std::vector<const TaskEvent*> events = by_task(log, graph);
  for (const TaskEvent& each : log.events)
    for (const TaskId before : graph.before(each.task))
      if (events[static_cast<std::size_t>(before)]->end > each.begin)
        return broken("began before task " + std::to_string(before) + " ended", each.task);
  return check_threads(log, graph, keeps_owners);
}

} // namespace kumihimo::tasks
