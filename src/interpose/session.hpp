// What there is once in a process: the MPI library behind us, what the user asked, and the communicators that the
// program has used. Made at the first hooked call, when MPI has been initialised, whichever of its names that
// was; nothing is created in the MPI library for it.
#pragma once

#include "interpose/communicator.hpp"
#include "interpose/nonblocking.hpp"
#include "interpose/types.hpp"
#include "interpose/watchdog.hpp"
#include "mpi/program_communicator.hpp"
#include "mpi_hooks/mpi_lifetime.hpp"

#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kumihimo::interpose {

// What the user asked of a run, as `kumihimo run` hands it to every process: in the environment, since the program's
// own arguments are not ours.
struct Settings {
  std::string wisdom;    // KUMIHIMO_WISDOM: the file of choices, or a folder of such; none: everything is the library's
  std::string kernels;   // KUMIHIMO_KERNELS: likewise of kernels; none: they run untuned
  std::string algorithm; // KUMIHIMO_ALGORITHM: one for all calls that it applies to, instead of wisdom
  std::string shape;     // KUMIHIMO_SHAPE: the machine's nodes, as of `bench --shape`
  std::string reproducible;   // KUMIHIMO_REPRODUCIBLE: order or exact; none: whatever is fastest
  double timeout_seconds = 0; // KUMIHIMO_TIMEOUT: after which a call that waits fails; 0: never
  std::string summary;        // KUMIHIMO_SUMMARY: where rank 0 writes what ran; none: nowhere
};

Settings settings_of_environment();

inline constexpr std::string_view object_name = "interposer"; // for mpi_hooks::PreloadCheck

class Session : public mpi_hooks::MpiLifetime<Session> {
 public:
  const Types& types() const { return types_; }
  CallCounters& counters() { return counters_; }
  Reproducible reproducible() const { return reproducible_; }

  // The communicator, known or new (then collective); null for an intercommunicator. None of an MPI session, which has
  // nothing to do with this class but the name.
  Communicator* communicator(mpi::Handle handle);
  // The same by this rank alone: null also for one that is new. What is missed so is made up for by meet().
  Communicator* known(mpi::Handle handle, bool& between);
  void want(mpi::Handle handle);
  // Within a call in which the communicator's ranks may wait for each other.
  void meet(mpi::Handle handle) {
    if (wants()) connect_wanted(handle);
  }
  bool wants() const { return wants_.load(std::memory_order_relaxed); }
  // Non-blocking calls can set nothing up. So MPI_COMM_WORLD is set up in MPI_Init, and any other communicator when it
  // is made, if one of its ranks has started a non-blocking collective before, or if for all of them it is one of few
  // and leaves memory for others: libraries duplicate the program's first of all, and may use the duplicate by
  // non-blocking calls alone. Both are collective, in calls in which a rank without our object would not answer: so
  // only if all ranks are on one node and are known to have our object. Between nodes nothing is lost, since
  // non-blocking calls are the library's there.
  void starts_nonblocking() { is_nonblocking_.store(true, std::memory_order_relaxed); }
  void set_up_world();
  void set_up_new(mpi::Handle handle);
  // Whether a call that is handed on may be counted alone when it comes again.
  bool lets_pass() const { return !wants() && !Watchdog::is_on() && reproducible_ != Reproducible::exact; }
  Nonblocking& nonblocking() { return nonblocking_; }
  // Runs a plan after the non-blocking calls that are under way on its communicator.
  Status run(Communicator& communicator, mpi::Handle handle, plan::Plan& plan, const execute::Buffers& buffers);
  // The program has made a window.
  void expect_one_sided() { one_sided_.store(true, std::memory_order_relaxed); }
  bool is_one_sided() const { return one_sided_.load(std::memory_order_relaxed); }
  // The program frees it, on all its ranks: before it is gone, what is ours is freed, or kept for the next one.
  void release(mpi::Handle handle);
  // This process is about to end the job, rank 0 of which will hear of it by a signal: it tells what it counted itself.
  void aborts() { write_unfinished(Counted::this_rank); }

  // A communicator of this rank alone, on which errors are returned: where MPI wants one and nobody else takes part.
  mpi::Handle alone();
  Result<mpi::Handle> make_alone() const { // another one, for the caller to free
    return mpi::make_private_communicator(library_, library_.constants.comm_self);
  }

  // On MPICH a handle is an int, whose register may carry anything above it.
  mpi::Handle plain(mpi::Handle handle) const {
    return library_.family == mpi::Family::mpich ? static_cast<std::int32_t>(handle) : handle;
  }
  // Raises an error of ours at the communicator's error handler; answers the code for the caller.
  int raise(const Error& error, mpi::Handle communicator);
  // A sentence on stderr, once a process.
  void say(const std::string& sentence);
  void say_once_for_all(const std::string& sentence); // what every rank finds alike: by rank 0

 private:
  friend class mpi_hooks::MpiLifetime<Session>;
  static constexpr std::string_view otherwise = "the MPI library runs all calls";
  explicit Session(mpi::Library library);
  void ends();                   // frees everything, and rank 0 of the world writes what ran
  void gone(mpi::Handle handle); // freed by a way that we do not see
  void connect_wanted(mpi::Handle handle);
  void set_up(mpi::Handle handle); // collective
  bool may_set_up(mpi::Handle handle);
  void watch_over(mpi::Handle handle);
  static int copied(mpi::Handle, int, void*, void*, void*, int* flag);
  static int deleted(mpi::Handle handle, int, void*, void* session);

  void write(const std::string& sentence);
  bool everyone_is_here();
  enum class Ended : std::uint8_t { by_finalize, without_finalize };
  void write_summary(); // of all ranks, by rank 0
  enum class Counted : std::uint8_t { all_ranks, rank_0, this_rank };
  void write_summary(Ended ended, Counted counted);
  void write_unfinished(Counted counted = Counted::rank_0);
  bool adds_up(); // whether the ranks sum up what ran on all of them

  Settings settings_;
  Types types_;
  Reproducible reproducible_ = Reproducible::off;
  bool completion_is_hooked_;
  Wisdom wisdom_;
  std::string wisdom_path_, kernels_path_; // of the files that choices of algorithms and kernels are from, or empty
  std::optional<Shape> machine_;
  std::uint64_t hash_ = 0;
  CallCounters counters_;
  int keyval_ = 0;
  pid_t process_ = getpid();

  std::shared_mutex mutex_; // of what follows, with each change of which FastPath forgets
  std::unordered_map<mpi::Handle, Communicator*> by_handle_;
  std::unordered_set<mpi::Handle> wanted_;         // by non-blocking calls
  std::unordered_set<mpi::Handle> watched_;        // those that carry our attribute
  std::atomic<bool> wants_ = false;                // whether any is
  CommunicatorCache kept_;                         // outlives them
  std::vector<std::unique_ptr<Communicator>> all_; // in the order in which they were first used
  std::map<std::string, std::int64_t> shapes_;     // of communicators, by name
  Nonblocking nonblocking_{library_, [this](const Error& e, mpi::Handle where) { return raise(e, where); }};
  std::mutex alone_mutex_;
  bool asked_for_alone_ = false;
  std::atomic<mpi::Handle> alone_ = 0;
  std::atomic<bool> one_sided_ = false, is_nonblocking_ = false;
  static constexpr std::int32_t most_set_up_early = 4;
  std::atomic<std::int32_t> set_up_early_ = 0;
  std::atomic<bool> has_spoken_ = false, has_raised_ = false;
};

} // namespace kumihimo::interpose
