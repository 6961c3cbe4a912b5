#include "tasks/run_tasks.hpp"

#include "tasks/recorded_tasks.hpp"

#include <omp.h>

#include <memory>
#include <thread>

namespace kumihimo::tasks {
namespace {

// Tasks that are ready, the most urgent on top. Several threads put tasks in, one or all take them out.
class ReadyTasks {
 public:
  void put(std::int32_t urgency, TaskId task) {
    const std::lock_guard lock(mutex_);
    heap_.emplace_back(urgency, task);
    std::ranges::push_heap(heap_, std::greater<>());
    size_.store(heap_.size(), std::memory_order_relaxed);
  }
  TaskId take() {
    if (size_.load(std::memory_order_relaxed) == 0) return no_task;
    const std::lock_guard lock(mutex_);
    if (heap_.empty()) return no_task;
    std::ranges::pop_heap(heap_, std::greater<>());
    const TaskId task = heap_.back().second;
    heap_.pop_back();
    size_.store(heap_.size(), std::memory_order_relaxed);
    return task;
  }

 private:
  alignas(64) std::mutex mutex_;
  std::vector<std::pair<std::int32_t, TaskId>> heap_;
  std::atomic<std::size_t> size_ = 0;
};

class MixedSchedule {
 public:
  // `threads`: those that there are.
  MixedSchedule(const TaskGraph& graph, const CriticalPaths& paths, int threads, RecordedTasks& tasks)
      : graph_(graph), paths_(paths), tasks_(tasks), own_(static_cast<std::size_t>(threads)),
        missing_(static_cast<std::size_t>(graph.size())) {
    for (TaskId id = 0; id < graph.size(); ++id) {
      const auto count = static_cast<std::int32_t>(graph.before(id).size());
      missing_[static_cast<std::size_t>(id)].store(count, std::memory_order_relaxed);
      if (count == 0) put(id);
    }
  }

  void work(int thread, TaskMessages* messages) {
    // Then another thread may need the processor, or another rank that is to send: a look at messages takes longer.
    const int most_spins = thread == 0 && messages ? 0 : 1000;
    int spins = 0;
    while (!is_over()) {
      if (thread == 0 && messages)
        if (const Status s = move(*messages); !s) return tasks_.fail(no_task, s.error());
      TaskId task = own_[static_cast<std::size_t>(thread)].take();
      if (task == no_task) task = of_any_.take();
      if (task == no_task) {
        if (++spins > most_spins) std::this_thread::yield();
        continue;
      }
      spins = 0;
      tasks_.run(task, thread);
      end(task);
    }
  }

 private:
  bool is_over() const { return done_.load(std::memory_order_acquire) == graph_.size() || tasks_.has_failed(); }

  // By thread 0. What ends lets others begin.
  Status move(TaskMessages& messages) {
    ended_.clear();
    if (Status s = messages.poll(ended_); !s) return s;
    for (const TaskId task : ended_) {
      tasks_.message_ended(task);
      end(task);
    }
    for (TaskId task = messages_.take(); task != no_task; task = messages_.take()) {
      tasks_.message_began(task);
      if (Status s = messages.begin(task); !s) return s;
    }
    return Nothing{};
  }

  void put(TaskId task) {
    const std::int32_t owner = graph_.task(task).owner;
    ReadyTasks& ready = owner == no_thread    ? messages_
                        : owner == any_thread ? of_any_
                                              : own_[static_cast<std::size_t>(owner) % own_.size()];
    ready.put(paths_.urgency[static_cast<std::size_t>(task)], task);
  }

  void end(TaskId task) {
    for (const TaskId each : paths_.after(task))
      if (missing_[static_cast<std::size_t>(each)].fetch_sub(1, std::memory_order_acq_rel) == 1) put(each);
    done_.fetch_add(1, std::memory_order_acq_rel);
  }

  const TaskGraph& graph_;
  const CriticalPaths& paths_;
  RecordedTasks& tasks_;
  std::vector<ReadyTasks> own_; // of each thread
  ReadyTasks of_any_;           // the dynamic part
  ReadyTasks messages_;
  std::vector<TaskId> ended_;                      // messages, of thread 0
  std::vector<std::atomic<std::int32_t>> missing_; // how many of those that a task waits for have not ended
  std::atomic<std::int32_t> done_ = 0;
};

} // namespace

Result<TaskLog> run_tasks(const TaskGraph& graph, int threads, const TaskWork& work, TaskMessages* messages) {
  const CriticalPaths paths(graph);
  std::optional<RecordedTasks> tasks;
  std::optional<MixedSchedule> schedule;
#pragma omp parallel num_threads(threads)
  {
#pragma omp single
    { // there may be fewer threads than asked for
      tasks.emplace(work, omp_get_num_threads());
      schedule.emplace(graph, paths, omp_get_num_threads(), *tasks);
    }
    tasks->rethrown_later([&] { schedule->work(omp_get_thread_num(), messages); });
  }
  return tasks->log(graph);
}

} // namespace kumihimo::tasks
