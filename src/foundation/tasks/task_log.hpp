// What happened in a run of a graph of tasks: who ran what, when, and what each thread waited for.
#pragma once

#include "base/result.hpp"
#include "tasks/task_graph.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::tasks {

// Times are nanoseconds since the start of the run.
struct TaskEvent {
  TaskId task = no_task;
  std::int32_t thread = 0; // no_thread: a message, which began when it could be sent or received
  std::int64_t begin = 0, end = 0;
  // Of add_waits(). How long the thread had nothing to do before this task, and the task whose end made this one ready
  // meanwhile; no_task: it was ready before.
  std::int64_t idle = 0;
  TaskId waited_for = no_task;
};

struct TaskLog {
  int threads = 1;
  std::vector<TaskEvent> events; // by begin
  std::int64_t end = 0;          // of the run
};

// Fills what follows from the other fields. O(events + dependences).
void add_waits(TaskLog& log, const TaskGraph& graph);

// Whether each task ran once, after what it waits for, on the thread that owns it (where the run `keeps_owners`), and
// no thread ran two at once; messages run on none. Error: the first task that did not.
Status check(const TaskLog& log, const TaskGraph& graph, bool keeps_owners = true);

} // namespace kumihimo::tasks
