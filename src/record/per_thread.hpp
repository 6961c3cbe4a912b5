// One object for each thread that asks for it. It is never destroyed: what it holds is written at the exit of the
// process, and a program may call MPI at its very end. When a thread ends, the next new one goes on with its object,
// cleared if it can be, so that a program which starts threads without end takes no more memory than for those that it
// has at once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

namespace kumihimo::record {

template <class T>
class PerThread {
 public:
  static T& mine() {
    if (!own_) [[unlikely]]
      take();
    return *own_;
  }
  // All that there are, in the order in which they were made; under the lock, with whatever their threads do meanwhile.
  template <class F>
  static void each(F f) {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    for (T& object : all.objects) f(object);
  }
  // Threads that have asked, ended ones too.
  static std::size_t threads() {
    const std::lock_guard lock(shared().mutex);
    return shared().threads;
  }

 private:
  struct Shared {
    std::mutex mutex;
    std::deque<T> objects;
    std::vector<T*> free;
    std::size_t threads = 0;
  };
  struct ReturnAtThreadExit {
    ~ReturnAtThreadExit() {
      Shared& all = shared();
      const std::lock_guard lock(all.mutex);
      all.free.push_back(own_);
      own_ = nullptr;
    }
  };
  static Shared& shared() {
    static auto* const all = new Shared;
    return *all;
  }
  static void take() {
    {
      Shared& all = shared();
      const std::lock_guard lock(all.mutex);
      if (all.free.empty()) {
        own_ = &all.objects.emplace_back();
      } else {
        own_ = all.free.back();
        all.free.pop_back();
      }
      if constexpr (requires { own_->clear(); }) {
        if (!counted_) own_->clear();
      }
      if (!counted_) ++all.threads;
      counted_ = true;
    }
    // One that asks again after its end keeps what it gets.
    static thread_local const ReturnAtThreadExit giver;
    static_cast<void>(giver);
  }

  static inline thread_local T* own_ = nullptr;
  static inline thread_local bool counted_ = false;
};

// Ranks turn it is with what a thread counts: the thread's own, or, at the end of the process, that of the one which
// writes it all down while other threads may still run. A thread takes its turn at each call, so that must cost next to
// nothing: it raises its own flag and looks whether the end has come, without a fence. The fence that this needs is the
// writer's, for all threads at once.
class CountingFlag {
 public:
  // Of the thread, and for as long as one of these lives. False where the end has come: then nothing may be changed.
  class Scope {
   public:
    Scope(CountingFlag& turn, const std::atomic<bool>& end) : turn_(turn) {
      turn_.taken_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(
          std::memory_order_seq_cst); // the compiler keeps the order; the writer has others keep it
      has_ = !end.load(std::memory_order_relaxed);
    }
    ~Scope() { turn_.taken_.store(false, std::memory_order_release); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    explicit operator bool() const { return has_; }

   private:
    CountingFlag& turn_;
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
