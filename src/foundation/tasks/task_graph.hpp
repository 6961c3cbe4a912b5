// Tasks, the tasks that each one waits for, and the order of their critical paths.
#pragma once

#include "base/unit_deal.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::tasks {

using TaskId = std::int32_t; // 0, 1, ... in the order in which tasks were added
inline constexpr TaskId no_task = -1;

inline constexpr std::int32_t any_thread = -1; // owner of the tasks of the dynamic part
inline constexpr std::int32_t no_thread = -2;  // owner of messages, which go on beside the tasks of threads

struct GraphTask {
  double cost = 1;                 // above 0; of any unit, which all tasks share
  std::int32_t owner = any_thread; // thread of the static part, modulo the number of threads
};

class TaskGraph {
 public:
  // `after`: tasks that were added before, so that no cycle can be made; one may stand there several times.
  TaskId add(GraphTask task, std::span<const TaskId> after);

  std::int32_t size() const { return static_cast<std::int32_t>(tasks_.size()); }
  const GraphTask& task(TaskId id) const { return tasks_[static_cast<std::size_t>(id)]; }
  std::span<const TaskId> before(TaskId id) const; // what the task waits for

 private:
  std::vector<GraphTask> tasks_;
  std::vector<TaskId> before_;           // of all tasks, one after the other
  std::vector<std::size_t> begin_ = {0}; // of each task's part of before_
};

// What a schedule needs of a graph beside it. O(tasks + dependences), and a sort.
struct CriticalPaths {
  explicit CriticalPaths(const TaskGraph& graph);
  std::span<const TaskId> after(TaskId id) const; // the tasks that wait for it

  std::vector<double> length;        // of each task: its cost and that of the longest path behind it
  std::vector<std::int32_t> urgency; // of each task: its place in the order of falling length; of equal ones the first

 private:
  std::vector<TaskId> after_;
  std::vector<std::size_t> begin_;
};

// Which thread owns each of some units of work (columns of a matrix): the first part of them, `static_share` of all
// costs (0 to 1), is dealt in turn by the rule of base/unit_deal.hpp; the rest belongs to any thread.
std::vector<std::int32_t> owners_of(std::span<const double> costs, int threads, double static_share);

} // namespace kumihimo::tasks
