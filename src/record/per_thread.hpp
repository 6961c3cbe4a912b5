// One object for each thread that asks for it. It is never destroyed: what it holds is written at the exit of the
// process, and a program may call MPI at its very end. When a thread ends, the next new one goes on with its object,
// cleared if it can be, so that a program which starts threads without end takes no more memory than for those that it
// has at once.
#pragma once

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
  struct Giver {
    ~Giver() {
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
    static thread_local const Giver giver;
    static_cast<void>(giver);
  }

  static inline thread_local T* own_ = nullptr;
  static inline thread_local bool counted_ = false;
};

} // namespace kumihimo::record
