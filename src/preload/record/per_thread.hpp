// One object for each thread that uses it. Objects are never destroyed: they are written at the exit of the process,
// and a program may call MPI until then. When a thread ends, the next new thread takes over its object, cleared if it
// has clear(). So memory grows with the number of threads at once only.
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
  // Calls f with every object, in the order of their making, under the lock. Their threads may run meanwhile.
  template <class F>
  static void each(F f) {
    Shared& all = shared();
    const std::lock_guard lock(all.mutex);
    for (T& object : all.objects) f(object);
  }
  // The number of threads so far, ended ones included.
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
    // A thread that uses it again after this object's destruction keeps what it gets.
    static thread_local const ReturnAtThreadExit giver;
    static_cast<void>(giver);
  }

  static inline thread_local T* own_ = nullptr;
  static inline thread_local bool counted_ = false;
};

// Set while a thread changes its counts. At the end of the process one thread writes the counts of all, while others
// may still run: it skips those whose flag stays set. A thread sets its flag at each call, which must cost next to
// nothing. So it issues no fence; the writer issues one for all threads.
class CountingFlag {
 public:
  // Sets the flag of this thread for as long as it lives. False after the end: then the thread may change nothing.
  class Scope {
   public:
    Scope(CountingFlag& flag, const std::atomic<bool>& end) : flag_(flag) {
      flag_.is_set_.store(true, std::memory_order_relaxed);
      std::atomic_signal_fence(std::memory_order_seq_cst); // for the compiler; the writer's fence is for the processors
      may_count_ = !end.load(std::memory_order_relaxed);
    }
    ~Scope() { flag_.is_set_.store(false, std::memory_order_release); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    explicit operator bool() const { return may_count_; }

   private:
    CountingFlag& flag_;
    bool may_count_;
  };

  // For the writer, after it has set the end: from here on each thread sees the end, or the writer sees its flag.
  static void fence_all_threads();
  // Waits until the flag is clear, at most until then. True: it is, and stays so.
  bool is_clear_by(std::chrono::steady_clock::time_point until) const;

 private:
  std::atomic<bool> is_set_ = false;
};

} // namespace kumihimo::record
