// What all schedules share: a task is run, logged, and its failure ends the run.
#pragma once

#include "measure/clock.hpp"
#include "tasks/task_log.hpp"
#include "tasks/task_work.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace kumihimo::tasks {

class RecordedTasks {
 public:
  RecordedTasks(const TaskWork& work, int threads)
      : work_(work), of_thread_(static_cast<std::size_t>(threads)), start_(measure::now_ns()) {}

  bool has_failed() const { return has_failed_.load(std::memory_order_acquire); }

  // By any thread; nothing after a failure.
  void run(TaskId task, int thread) {
    if (has_failed()) return;
    TaskEvent event{.task = task, .thread = thread, .begin = measure::now_ns() - start_};
    rethrown_later([&] {
      if (const Status s = work_(task, thread); !s) fail(task, s.error());
      event.end = measure::now_ns() - start_;
      of_thread_[static_cast<std::size_t>(thread)].events.push_back(event);
    });
  }

  // By the caller of the run.
  void message_began(TaskId task) { began_[task] = measure::now_ns() - start_; }
  void message_ended(TaskId task) {
    messages_.push_back({.task = task, .thread = no_thread, .begin = began_[task], .end = measure::now_ns() - start_});
  }

  // What it throws, which may not leave a thread, ends the run, and log() throws it.
  template <class Work>
  void rethrown_later(Work&& work) {
    try {
      work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      thrown_ = std::current_exception();
      has_failed_.store(true, std::memory_order_release);
    }
  }

  void fail(TaskId task, const Error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_ || task < failed_task_) {
      error_ = error;
      failed_task_ = task;
    }
    has_failed_.store(true, std::memory_order_release);
  }

  // By the caller, after all threads.
  Result<TaskLog> log(const TaskGraph& graph) {
    if (thrown_) std::rethrow_exception(thrown_);
    if (error_) return *error_;
    TaskLog log{.threads = static_cast<int>(of_thread_.size()), .events = messages_, .end = measure::now_ns() - start_};
    for (const OfThread& each : of_thread_) log.events.insert(log.events.end(), each.events.begin(), each.events.end());
    std::ranges::stable_sort(log.events, {}, &TaskEvent::begin);
    add_waits(log, graph);
    return log;
  }

 private:
  struct alignas(64) OfThread {
    std::vector<TaskEvent> events;
  };

  const TaskWork& work_;
  std::vector<OfThread> of_thread_;
  std::int64_t start_;
  std::map<TaskId, std::int64_t> began_; // messages
  std::vector<TaskEvent> messages_;      // that have ended
  std::atomic<bool> has_failed_ = false;
  std::mutex mutex_; // of what follows
  std::optional<Error> error_;
  TaskId failed_task_ = no_task;
  std::exception_ptr thrown_;
};

} // namespace kumihimo::tasks
