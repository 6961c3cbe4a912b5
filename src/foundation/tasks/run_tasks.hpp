// Runs of a graph of tasks on threads of this process: the schedule of our own, whose first part is static and the rest
// dynamic (S. Donfack, L. Grigori, W. Gropp, V. Kale, Hybrid static/dynamic scheduling for already optimized dense
// matrix factorization, IPDPS 2012), and the same graph by two runtimes that have no static part.
#pragma once

#include "base/result.hpp"
#include "tasks/task_graph.hpp"
#include "tasks/task_log.hpp"
#include "tasks/task_work.hpp"

#include <functional>

namespace kumihimo::tasks {

// Called by thread 0, which is the caller, between its tasks and while it waits: progress of messages. An error ends
// the run.
using TaskPoll = std::function<Status()>;

// A thread takes the most urgent of its own static tasks that are ready; without one, of those that belong to any
// thread. Threads are those of OpenMP, and keep their processors. A task costs a few tenths of a microsecond. Errors:
// that of the first task in the order of the graph that failed, or that of `poll`. What `work` throws is thrown again.
Result<TaskLog> run_tasks(const TaskGraph& graph, int threads, const TaskWork& work, const TaskPoll& poll = {});

// The same by tasks of OpenMP with `depend` clauses. It follows the order of critical paths where the environment has
// OMP_MAX_TASK_PRIORITY.
Result<TaskLog> run_by_openmp(const TaskGraph& graph, int threads, const TaskWork& work);

// The same by a flow graph of oneTBB, in threads of its own on any processor. Error: this build has no TBB.
Result<TaskLog> run_by_tbb(const TaskGraph& graph, int threads, const TaskWork& work);

} // namespace kumihimo::tasks
