// The lives of MPI in a process: one from MPI_Init to MPI_Finalize; by sessions alone one from the first that the
// program opens to the last that it closes, as often as the library can. What an object of ours knows of the process is
// made in the first, does nothing between two, and lasts as long as the process.
//
// Where the library opens no session of ours, on one rank alone perhaps, that rank is not here (see PreloadCheck), for
// good, from before any communicator is made in which others could wait for it. Where there is no list of who is here
// it takes part in what the others do, without a place in the job.
#pragma once

#include "mpi_hooks/sessions.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <memory>
#include <mutex>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::mpi_hooks {

class Life {
 public:
  Life(const Life&) = delete;
  Life& operator=(const Life&) = delete;

  const mpi::Library& library() const { return library_; }
  // MPI_COMM_WORLD is there; else MPI is used by sessions alone.
  bool has_world() const { return has_world_; }
  // It began without.
  bool is_by_sessions() const { return by_sessions_; }
  // Where this process stands: in MPI_COMM_WORLD, or in "mpi://WORLD"; -1 where there is neither.
  std::int32_t rank() const { return rank_; }
  std::int32_t ranks() const { return ranks_; }
  // Null where there is MPI_COMM_WORLD from the beginning, and where there is neither.
  const OwnSession* own_session() const { return own_session_.get(); }
  // As of OwnSession, in MPI_COMM_WORLD where there is no session of ours; `unknown` where there is neither.
  std::vector<std::int32_t> ranks_of(Handle communicator) const;

 protected:
  // MPI has begun. `otherwise`: what the user is told of where this process has no place in the job.
  Life(mpi::Library library, std::string_view otherwise);
  ~Life() = default;
  // Whether it was not over: then nothing is caught from here on.
  bool end() { return !over_.exchange(true); }
  bool is_over() const { return over_.load(std::memory_order_relaxed); }

  const mpi::Library library_;
  std::atomic<bool> over_ = false;

 private:
  template <class Object>
  friend class MpiLifetime;
  void begin();
  void meet_world();
  bool pause(); // false: it goes on
  void close() { own_session_.reset(); }

  std::string_view otherwise_;
  std::unique_ptr<OwnSession> own_session_; // to the end of MPI
  std::atomic<bool> has_world_ = false, by_sessions_ = false;
  bool paused_ = false, has_no_place_ = false;
  std::int32_t rank_ = -1, ranks_ = 1;
};

// `Object` is derived from this, and says what it does in its lives:
//   static constexpr std::string_view otherwise;  what becomes of the calls where it can do nothing
//   bool begins(bool anew);  false: never again. Anew, or with MPI_COMM_WORLD from now on
//   void pauses();           the last session is about to be closed: waits for nobody
//   void ends();             before MPI_Finalize, on all ranks together
template <class Object>
class MpiLifetime : public Life {
 public:
  // Null between two lives, and where the library is not one that we know.
  static Object* current() {
    Object* const object = of_process.load(std::memory_order_acquire);
    if (object) [[likely]]
      return object->is_over() ? nullptr : object;
    return first();
  }
  // After MPI_Init, and after a session was opened: of a program that has used MPI before.
  static void life_begins();
  // Before the program closes the last session.
  static void last_session_ends();
  // Before MPI_Finalize.
  static void world_ends();

 protected:
  explicit MpiLifetime(mpi::Library library) : Life(std::move(library), Object::otherwise) {}

  static inline std::atomic<Object*> of_process = nullptr; // lives as long as the process

 private:
  static Object* first();
  static inline std::mutex mutex; // held while one is made, begins or pauses
};

template <class Object>
Object* MpiLifetime<Object>::first() {
  static std::atomic<bool> unknown = false;
  if (unknown || (!mpi::is_running() && !ProgramSessions::any())) return nullptr;
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
        auto* const object = new Object(std::move(*library));
        object->over_ = !object->begins(true);
        of_process = object;
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
void MpiLifetime<Object>::life_begins() {
  const std::lock_guard lock(mutex);
  Object* const object = of_process;
  if (!object) return;
  const bool anew = object->paused_;
  if (!anew && (object->is_over() || object->has_world() || !mpi::is_running())) return;
  if (anew) object->begin();
  object->over_ = !object->begins(anew);
  object->paused_ = false;
  if (!anew && !object->is_over()) object->meet_world(); // not before: other threads may be in calls by sessions
}

template <class Object>
void MpiLifetime<Object>::last_session_ends() {
  if (mpi::is_running()) return; // nor waits for a thread that holds the lock while the ranks meet after MPI_Init
  const std::lock_guard lock(mutex);
  Object* const object = of_process;
  if (!object || !object->pause()) return;
  object->pauses();
  object->close();
}

template <class Object>
void MpiLifetime<Object>::world_ends() {
  Object* const object = current();
  if (!object || !object->end()) return;
  object->ends();
  object->close();
}

} // namespace kumihimo::mpi_hooks
