// Ranks turn it is with what a thread counts: the thread's own, or, at the end of the process, that of the one which
// writes it all down while other threads may still run. A thread takes its turn at each call, so that must cost next to
// nothing: it raises its own flag and looks whether the end has come, without a fence. The fence that this needs is the
// writer's, for all threads at once.
#pragma once

#include <atomic>
#include <chrono>

namespace kumihimo::record {

class Turn {
 public:
  // Of the thread, and for as long as one of these lives. False where the end has come: then nothing may be changed.
  class Mine {
   public:
    Mine(Turn& turn, const std::atomic<bool>& end) : turn_(turn) {
      turn_.taken_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(
          std::memory_order_seq_cst); // the compiler keeps the order; the writer has others keep it
      has_ = !end.load(std::memory_order_relaxed);
    }
    ~Mine() { turn_.taken_.store(false, std::memory_order_release); }
    Mine(const Mine&) = delete;
    Mine& operator=(const Mine&) = delete;
    explicit operator bool() const { return has_; }

   private:
    Turn& turn_;
    bool has_;
  };

  // Of the writer, after it has set the end. From here on every thread sees it, or is seen to have its turn.
  static void fence_all_threads();
  // Whether the thread has ended its turn until then: if so it takes no other.
  bool ended_until(std::chrono::steady_clock::time_point until) const;

 private:
  std::atomic<bool> taken_ = false;
};

} // namespace kumihimo::record
