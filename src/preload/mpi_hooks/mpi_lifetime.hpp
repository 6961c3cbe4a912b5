// The state of a preload library from the first hooked call after MPI_Init to MPI_Finalize. A program with sessions and
// no MPI_Init has none; the library runs its calls.
#pragma once

#include "base/terminal_text.hpp"
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

// The handle without the upper half of its register: MPICH's handles are ints.
inline Handle plain_handle(const mpi::Library& library, Handle handle) {
  return library.family == mpi::LibraryFamily::mpich ? static_cast<std::int32_t>(handle) : handle;
}
// Whether MPI_Comm_spawn started this process: its world has ranks from 0 on again.
bool is_spawned(const mpi::Library& library);

class MpiPeriod {
 public:
  MpiPeriod(const MpiPeriod&) = delete;
  MpiPeriod& operator=(const MpiPeriod&) = delete;

  const mpi::Library& library() const { return library_; }
  // This rank and the number of ranks in MPI_COMM_WORLD.
  std::int32_t rank() const { return rank_; }
  std::int32_t ranks() const { return ranks_; }
  // The ranks in MPI_COMM_WORLD of a communicator's processes, in its order; -1 for one of another job. {-1} if the
  // library fails.
  std::vector<std::int32_t> ranks_of(Handle communicator) const;

 protected:
  explicit MpiPeriod(mpi::Library library);
  ~MpiPeriod() = default;
  // Ends the period: nothing is hooked from here on. False if it was over.
  bool end() { return !over_.exchange(true); }
  bool is_over() const { return over_.load(std::memory_order_relaxed); }

  const mpi::Library library_;
  std::atomic<bool> over_ = false;

 private:
  std::int32_t rank_ = -1, ranks_ = 1;
};

// `Object` is derived from this. Its constructor sets over_ if it will do nothing. It has:
//   static constexpr std::string_view otherwise;  the consequence if it cannot be made, for a message
//   void ends();                                  called before MPI_Finalize, on all ranks together
template <class Object>
class MpiLifetime : public MpiPeriod {
 public:
  // Null before MPI_Init, after MPI_Finalize, and with an unknown MPI library.
  static Object* current() {
    Object* const object = of_process.load(std::memory_order_acquire);
    if (object) [[likely]]
      return object->is_over() ? nullptr : object;
    return first();
  }
  // Called after MPI_Init. If sessions came first, no other call makes the object: it may have to wait for ranks in
  // MPI_Init, and these may wait for another thread of this rank in a call of a session.
  static Object* make();
  // Called before MPI_Finalize.
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
          std::fprintf(stderr, "kumihimo: %s; %s\n", visible(library.error().sentence()).c_str(),
                       Object::otherwise.data());
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
