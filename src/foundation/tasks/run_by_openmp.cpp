#include "tasks/callers_messages.hpp"
#include "tasks/recorded_tasks.hpp"
#include "tasks/run_tasks.hpp"

#include <omp.h>

namespace kumihimo::tasks {
namespace {

// GCC runs a task at once where more than so many of a thread wait. A message would block its thread then, and with it
// the tasks that other messages wait for.
constexpr TaskId most_of_thread = 64;

// By one thread of a team.
void make_tasks(const TaskGraph& graph, const CriticalPaths& paths, RecordedTasks& tasks, CallersMessages* messages) {
  const TaskId size = graph.size(), most = most_of_thread * omp_get_num_threads();
  std::vector<char> ended(static_cast<std::size_t>(size)); // only their addresses count
  char* const of = ended.data();
  RecordedTasks* const all = &tasks;
  for (TaskId id = 0; id < size; ++id) {
    const TaskId* const before = graph.before(id).data();
    const auto count = static_cast<int>(graph.before(id).size());
    const int priority = size - paths.urgency[static_cast<std::size_t>(id)];
    (void)before, (void)count, (void)of, (void)priority; // GCC does not see their use in the clauses
    if (graph.task(id).owner == no_thread) {
      omp_event_handle_t event{};
      // clang-format off
#pragma omp task firstprivate(id, messages) detach(event) priority(priority) \
    depend(iterator(i = 0 : count), in : of[before[i]]) depend(out : of[id])
      // clang-format on
      messages->put(id, [event] { omp_fulfill_event(event); });
    } else {
      // clang-format off
#pragma omp task firstprivate(id, all) priority(priority) \
    depend(iterator(i = 0 : count), in : of[before[i]]) depend(out : of[id])
      // clang-format on
      all->run(id, omp_get_thread_num());
    }
    if (messages && (id + 1) % most == 0) {
#pragma omp taskwait
    }
  }
#pragma omp taskwait
}

} // namespace

Result<TaskLog> run_by_openmp(const TaskGraph& graph, int threads, const TaskWork& work, TaskMessages* messages) {
  const CriticalPaths paths(graph);
  std::optional<RecordedTasks> tasks;
  const auto run = [&](CallersMessages* callers) {
#pragma omp parallel num_threads(threads)
#pragma omp single
    {
      if (!tasks) tasks.emplace(work, omp_get_num_threads());
      make_tasks(graph, paths, *tasks, callers);
    }
  };
  if (messages) {
    CallersMessages callers(tasks.emplace(work, threads), *messages);
    callers.poll_beside(threads, [&] { run(&callers); });
  } else {
    run(nullptr);
  }
  return tasks->log(graph);
}

} // namespace kumihimo::tasks
