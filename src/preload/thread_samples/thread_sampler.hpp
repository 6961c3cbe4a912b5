// Looks at the threads of this process twice: at once, and a while later or at the end, whichever comes first. A thread
// of its own does so. It sleeps between, and may run on all processors, so it takes none from a bound thread.
#pragma once

#include "thread_samples/node_cores.hpp"
#include "thread_samples/thread_states.hpp"

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace kumihimo::thread_samples {

class ThreadSampler {
 public:
  struct Rules {
    std::chrono::nanoseconds after{}; // the second look
    bool tells_node = true;           // one process of a node suffices
    std::function<void()> then;       // called by the thread after the second look, if this was not at the end
  };
  // Begins. Without memory or threads, there are no samples.
  explicit ThreadSampler(Rules rules);
  ~ThreadSampler() = default; // the thread lives as long as the process, or finish() has ended it
  ThreadSampler(const ThreadSampler&) = delete;
  ThreadSampler& operator=(const ThreadSampler&) = delete;

  // Takes the second look if there was none yet, and ends the thread. Not to be called in a forked process, nor by it.
  void finish();

  // After the second look: docs/profile-format.md, "Thread samples". null if there is none.
  nlohmann::json samples() const;

 private:
  struct Seen {
    std::map<pid_t, ThreadState> threads;
    std::int64_t at_ns = 0;
  };
  static Seen look();
  void run();
  std::vector<ThreadState> worked_between() const; // that had a processor between the looks

  Rules rules_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool is_ending_ = false;
  Seen first_, second_;
  NodeCores node_;
  std::map<pid_t, std::vector<std::uintptr_t>> instructions_;
  std::thread thread_;
};

} // namespace kumihimo::thread_samples
