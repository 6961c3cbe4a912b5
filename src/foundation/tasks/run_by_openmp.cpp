#include "tasks/recorded_tasks.hpp"
#include "tasks/run_tasks.hpp"

#include <omp.h>

namespace kumihimo::tasks {

Result<TaskLog> run_by_openmp(const TaskGraph& graph, int threads, const TaskWork& work) {
  const CriticalPaths paths(graph);
  std::optional<RecordedTasks> tasks;
  const TaskId size = graph.size();
  std::vector<char> ended(static_cast<std::size_t>(size)); // only their addresses count
  char* const of = ended.data();
#pragma omp parallel num_threads(threads)
#pragma omp single
  {
    tasks.emplace(work, omp_get_num_threads());
    RecordedTasks* const all = &*tasks;
    for (TaskId id = 0; id < size; ++id) {
      const TaskId* const before = graph.before(id).data();
      const auto count = static_cast<int>(graph.before(id).size());
      const int priority = size - paths.urgency[static_cast<std::size_t>(id)];
      (void)before, (void)count, (void)of, (void)priority; // GCC does not see their use in the clauses
#pragma omp task firstprivate(id, all) depend(iterator(i = 0                                                           \
                                                       : count),                                                       \
                                              in                                                                       \
                                              : of[before[i]]) depend(out                                              \
                                                                      : of[id]) priority(priority)
      all->run(id, omp_get_thread_num());
    }
  }
  return tasks->log(graph);
}

} // namespace kumihimo::tasks
