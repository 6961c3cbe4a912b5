#include "tasks/callers_messages.hpp"

#include "threads/team.hpp"

#include <chrono>
#include <future>
#include <thread>

namespace kumihimo::tasks {

void CallersMessages::put(TaskId task, std::function<void()> ended) {
  const std::lock_guard lock(mutex_);
  ready_.emplace_back(task, std::move(ended));
}

void CallersMessages::poll_beside(int threads, const std::function<void()>& run) {
  using namespace std::chrono_literals;
  std::future<void> over = std::async(std::launch::async, [&] { threads::run_apart(threads, run); });
  while (over.wait_for(0s) != std::future_status::ready)
    if (!move()) std::this_thread::sleep_for(10us); // the threads may need this processor
  over.get();
}

bool CallersMessages::move() {
  std::vector<Message> ready;
  {
    const std::lock_guard lock(mutex_);
    ready.swap(ready_);
  }
  ended_.clear();
  tasks_.rethrown_later([&] {
    begin(ready);
    if (!tasks_.has_failed()) poll();
  });
  if (!tasks_.has_failed()) return !ready.empty() || !ended_.empty();
  for (const auto& [task, ended] : std::exchange(under_way_, {})) ended(); // the runtime waits for all
  return true;
}

void CallersMessages::begin(const std::vector<Message>& ready) {
  for (const auto& [task, ended] : ready) under_way_.emplace(task, ended);
  for (const auto& [task, ended] : ready) {
    if (tasks_.has_failed()) return;
    tasks_.message_began(task);
    if (const Status s = messages_.begin(task); !s) tasks_.fail(no_task, s.error());
  }
}

void CallersMessages::poll() {
  if (const Status s = messages_.poll(ended_); !s) return tasks_.fail(no_task, s.error());
  for (const TaskId task : ended_) {
    tasks_.message_ended(task);
    under_way_.extract(task).mapped()();
  }
}

} // namespace kumihimo::tasks
