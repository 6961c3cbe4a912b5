// Messages of a run whose threads belong to a runtime, which cannot poll: the caller of the run does it beside them.
#pragma once

#include "tasks/recorded_tasks.hpp"
#include "tasks/run_tasks.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace kumihimo::tasks {

class CallersMessages {
 public:
  // Both outlive it.
  CallersMessages(RecordedTasks& tasks, TaskMessages& messages) : tasks_(tasks), messages_(messages) {}

  // By any thread: what the message waits for has ended. The caller's thread calls `ended` when it has come, or the run
  // has failed.
  void put(TaskId task, std::function<void()> ended);
  // Runs the threads apart, a team of so many, and polls until `run` returns. Throws what it throws.
  void poll_beside(int threads, const std::function<void()>& run);

 private:
  using Message = std::pair<TaskId, std::function<void()>>;
  bool move(); // whether anything began or ended
  void begin(const std::vector<Message>& ready);
  void poll();

  RecordedTasks& tasks_;
  TaskMessages& messages_;
  std::mutex mutex_; // of ready_
  std::vector<Message> ready_;
  std::map<TaskId, std::function<void()>> under_way_;
  std::vector<TaskId> ended_;
};

} // namespace kumihimo::tasks
