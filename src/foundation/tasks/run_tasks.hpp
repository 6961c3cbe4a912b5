// Runs of a graph of tasks on threads of this process: the schedule of our own, whose first part is static and the rest
// dynamic (S. Donfack, L. Grigori, W. Gropp, V. Kale, Hybrid static/dynamic scheduling for already optimized dense
// matrix factorization, IPDPS 2012), and the same graph by two runtimes that have no static part.
#pragma once

#include "base/result.hpp"
#include "tasks/task_graph.hpp"
#include "tasks/task_log.hpp"
#include "tasks/task_work.hpp"

#include <vector>

namespace kumihimo::tasks {

// The tasks of a graph that no thread owns: messages, which begin when what they wait for has ended, and end when they
// have come. Called by the caller of the run. With run_tasks() that is thread 0, between its tasks and while it waits;
// the other runtimes have threads apart, beside which it polls. An error ends the run.
class TaskMessages {
 public:
  virtual ~TaskMessages() = default;
  virtual Status begin(TaskId task) = 0;
  // Moves what is under way. Adds the tasks that have ended since the last call.
  virtual Status poll(std::vector<TaskId>& ended) = 0;
};

// A thread takes the most urgent of its own static tasks that are ready; without one, of those that belong to any
// thread. Threads are those of OpenMP, and keep their processors. A task costs a few tenths of a microsecond. Errors:
// that of the first task in the order of the graph that failed, or that of
// `messages`, which a graph with such tasks needs. What `work` throws is thrown again.
Result<TaskLog> run_tasks(const TaskGraph& graph, int threads, const TaskWork& work, TaskMessages* messages = nullptr);

// The same by tasks of OpenMP with `depend` clauses. It follows the order of critical paths where the environment has
// OMP_MAX_TASK_PRIORITY.
Result<TaskLog> run_by_openmp(const TaskGraph& graph, int threads, const TaskWork& work,
                              TaskMessages* messages = nullptr);

// The same by a flow graph of oneTBB, in threads of its own on any processor. Error: this build has no TBB.
Result<TaskLog> run_by_tbb(const TaskGraph& graph, int threads, const TaskWork& work, TaskMessages* messages = nullptr);

} // namespace kumihimo::tasks
