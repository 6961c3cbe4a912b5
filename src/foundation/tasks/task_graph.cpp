#include "tasks/task_graph.hpp"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace kumihimo::tasks {
namespace {

std::size_t place(TaskId id) { return static_cast<std::size_t>(id); }

} // namespace

TaskId TaskGraph::add(GraphTask task, std::span<const TaskId> after) {
  const TaskId id = size();
  assert(task.cost > 0);
  for (const TaskId each : after) {
    assert(each >= 0 && each < id);
    if (std::find(before_.begin() + static_cast<std::ptrdiff_t>(begin_.back()), before_.end(), each) == before_.end())
      before_.push_back(each);
  }
  tasks_.push_back(task);
  begin_.push_back(before_.size());
  return id;
}

std::span<const TaskId> TaskGraph::before(TaskId id) const {
  return {before_.data() + begin_[place(id)], before_.data() + begin_[place(id) + 1]};
}

CriticalPaths::CriticalPaths(const TaskGraph& graph)
    : length(place(graph.size())), urgency(place(graph.size())), begin_(place(graph.size()) + 1) {
  const TaskId size = graph.size();
  for (TaskId id = 0; id < size; ++id)
    for (const TaskId each : graph.before(id)) ++begin_[place(each) + 1];
  std::partial_sum(begin_.begin(), begin_.end(), begin_.begin());
  after_.resize(begin_.back());
  std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
  for (TaskId id = 0; id < size; ++id)
    for (const TaskId each : graph.before(id)) after_[next[place(each)]++] = id;
  for (TaskId id = size - 1; id >= 0; --id) {
    double behind = 0;
    for (const TaskId each : after(id)) behind = std::max(behind, length[place(each)]);
    length[place(id)] = graph.task(id).cost + behind;
  }
  std::vector<TaskId> order(place(size));
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, [this](TaskId x, TaskId y) { return length[place(x)] > length[place(y)]; });
  for (std::size_t i = 0; i < order.size(); ++i) urgency[place(order[i])] = static_cast<std::int32_t>(i);
}

std::span<const TaskId> CriticalPaths::after(TaskId id) const {
  return {after_.data() + begin_[place(id)], after_.data() + begin_[place(id) + 1]};
}

std::vector<std::int32_t> owners_of(std::span<const double> costs, int threads, double static_share) {
  const UnitDeal deal(costs, threads, static_share);
  std::vector<std::int32_t> owners(costs.size(), any_thread);
  for (std::int64_t unit = 0; unit < deal.beforehand(); ++unit)
    owners[static_cast<std::size_t>(unit)] = deal.rank_of(unit);
  return owners;
}

} // namespace kumihimo::tasks
