// What an object of ours knows of the process: made at the first call that is hooked after MPI_Init, over at
// MPI_Finalize. A program that uses MPI by sessions alone, without MPI_Init, has none, and its calls are the library's.
#pragma once

#include "mpi_hooks/sessions.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::mpi_hooks {

class MpiPeriod {
 public:
  MpiPeriod(const MpiPeriod&) = delete;
  MpiPeriod& operator=(const MpiPeriod&) = delete;

  const mpi::Library& library() const { return library_; }
  // In MPI_COMM_WORLD.
  std::int32_t rank() const { return rank_; }
  std::int32_t ranks() const { return ranks_; }
  // The ranks in MPI_COMM_WORLD of a communicator's processes, in its order; -1 for one of another job, and alone where
  // the library does not say.
  std::vector<std::int32_t> ranks_of(Handle communicator) const;

 protected:
  explicit MpiPeriod(mpi::Library library);
  ~MpiPeriod() = default;
  // Whether it was not over: then nothing is hooked from here on.
  bool end() { return !over_.exchange(true); }
  bool is_over() const { return over_.load(std::memory_order_relaxed); }

  const mpi::Library library_;
  std::atomic<bool> over_ = false;

 private:
  std::int32_t rank_ = -1, ranks_ = 1;
};

// `Object` is derived from this, and sets over_ when it is made if it will do nothing. It says:
//   static constexpr std::string_view otherwise;  what becomes of the calls where it can do nothing
//   void ends();                                  before MPI_Finalize, on all ranks together
template <class Object>
class MpiLifetime : public MpiPeriod {
 public:
  // Null where MPI is not initialised or over, and where the library is not one that we know.
  static Object* current() {
    Object* const object = of_process.load(std::memory_order_acquire);
    if (object) [[likely]]
      return object->is_over() ? nullptr : object;
    return first();
  }
  // After MPI_Init. If sessions came first, no other call makes the object: it may have to wait for ranks in MPI_Init,
  // which may wait for this rank in a call of a session, by another thread.
  static Object* make();
  // Before MPI_Finalize.
  static void world_ends();

 protected:
  explicit MpiLifetime(mpi::Library library) : MpiPeriod(std::move(library)) {}

  static inline std::atomic<Object*> of_process = nullptr; // lives as long as the process

 private:
  static Object* first() { return ProgramSessions::came_first() || !mpi::is_running() ? nullptr : make(); }
  static inline std::mutex mutex; // held while it is made
};

template <class Object>
Object* MpiLifetime<Object>::make() {
  static std::atomic<bool> unknown = false;
  if (unknown) return nullptr;
  {
    const std::lock_guard lock(mutex);
    if (!of_process && !unknown) {
      try {
        Result<mpi::Library> library = mpi::loaded_library();
        if (!library) {
          unknown = true;
          std::fprintf(stderr, "kumihimo: %s; %s\n", library.error().sentence().c_str(), Object::otherwise.data());
          return nullptr;
        }
        of_process = new Object(std::move(*library));
      } catch (const std::exception& error) { // no memory, mostly
        unknown = true;
        std::fprintf(stderr, "kumihimo: cannot start: %s; %s\n", error.what(), Object::otherwise.data());
        return nullptr;
      }
    }
  }
  return of_process ? current() : nullptr;
}

template <class Object>
void MpiLifetime<Object>::world_ends() {
  Object* const object = current();
  if (object && object->end()) object->ends();
}

} // namespace kumihimo::mpi_hooks
