// The state of the interposer in a process: the MPI library, the user's settings, and the communicators that the
// program has used. Made at the first hooked call after MPI_Init.
#pragma once

#include "interpose/communicator.hpp"
#include "interpose/nonblocking.hpp"
#include "interpose/watchdog.hpp"
#include "mpi/own_place.hpp"
#include "mpi/program_communicator.hpp"
#include "mpi/types.hpp"
#include "mpi_hooks/mpi_lifetime.hpp"

#include <unistd.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kumihimo::interpose {

// The settings of a run. `kumihimo run` passes them in the environment, because the program has arguments of its own.
struct RunSettings {
  std::string wisdom;    // KUMIHIMO_WISDOM: the file of choices, or a folder of files; none: the library runs all calls
  std::string program;   // KUMIHIMO_PROGRAM: its own choices in that folder are preferred
  std::string kernels;   // KUMIHIMO_KERNELS: likewise for kernels; none: they run untuned
  std::string algorithm; // KUMIHIMO_ALGORITHM: one for all calls that it fits, instead of wisdom
  std::string shape;     // KUMIHIMO_SHAPE: the machine's nodes, as of `bench --shape`
  std::string reproducible;   // KUMIHIMO_REPRODUCIBLE: order or exact; none: the fastest
  double timeout_seconds = 0; // KUMIHIMO_TIMEOUT: after which a call that waits fails; 0: never
  std::string summary;        // KUMIHIMO_SUMMARY: where rank 0 writes what ran; none: nowhere
  // KUMIHIMO_REORDER: off; none: the best order that is found. For tests: the reverse order (reverse), or the best one
  // as if the ranks alternated between two packages of each node (packages).
  std::string reorder;
};

RunSettings settings_of_environment();

inline constexpr std::string_view object_name = "interposer"; // for mpi_hooks::PreloadCheck

class Interposer : public mpi_hooks::MpiLifetime<Interposer> {
 public:
  const mpi::Types& types() const { return types_; }
  CallCounters& counters() { return counters_; }
  Reproducible reproducible() const { return reproducible_; }

  // The communicator, known or new (then collective); null for an intercommunicator and for one of an MPI session.
  Communicator* communicator(mpi::Handle handle);
  // The same by this rank alone: null also for a new one, which want() remembers and meet() sets up. `between`: set for
  // an intercommunicator.
  Communicator* known(mpi::Handle handle, bool& between);
  void want(mpi::Handle handle);
  // Called in a call in which the communicator's ranks may wait for each other.
  void meet(mpi::Handle handle) {
    if (wants()) connect_wanted(handle);
  }
  bool wants() const { return wants_.load(std::memory_order_relaxed); }
  // Set a communicator up before its first call, because non-blocking calls cannot (ADR 33). Both are collective, in
  // calls in which a rank without the interposer would not take part. So they do nothing unless all ranks are on one
  // node and are known to have it. Between nodes the library runs non-blocking calls anyway.
  void starts_nonblocking() { is_nonblocking_.store(true, std::memory_order_relaxed); }
  void set_up_world();
  void set_up_new(mpi::Handle handle);
  // Whether a forwarded call may be only counted when it is repeated.
  bool lets_pass() const { return !wants() && !Watchdog::is_on() && reproducible_ != Reproducible::exact; }
  Nonblocking& nonblocking() { return nonblocking_; }
  // Runs a plan after the non-blocking calls that are under way on its communicator. `reduction`: of this run, in place
  // of the plan's.
  Status run(Communicator& communicator, mpi::Handle handle, plan::Plan& plan, const execute::Buffers& buffers,
             const transport::Reduction* reduction = nullptr);
  // Called when the program has made a window.
  void expect_one_sided() { one_sided_.store(true, std::memory_order_relaxed); }
  bool is_one_sided() const { return one_sided_.load(std::memory_order_relaxed); }
  // Called before the program frees it, on all its ranks: frees its resources, or keeps them for the next one.
  void release(mpi::Handle handle);
  // Called before this process ends the job: it writes its own counts, because rank 0 will be killed by a signal.
  void aborts() { write_unfinished(Counted::this_rank); }

  // A communicator of this rank alone, with errors returned, for MPI functions that need one.
  mpi::Handle alone();
  Result<mpi::Handle> make_alone() const { // another one, for the caller to free
    return mpi::make_private_communicator(library_, library_.constants.comm_self);
  }

  // For topologies with new ranks (reorder.hpp): the user's setting; the shape of the nodes, if it is given and fits.
  const std::string& reorder() const { return settings_.reorder; }
  const std::optional<PlaceInShape>& place() const { return place_; }
  // What the ranks must agree on; 0: nothing may be agreed on now.
  std::uint64_t agreed_hash() const;
  // Whether all processes of the job take part in agreements about it. Equal on all of them.
  bool may_reorder();
  // Whether all ranks of the communicator do: none is of another job or of a session. Equal on all of them.
  bool may_reorder(mpi::Handle handle);

  mpi::Handle plain(mpi::Handle handle) const { return mpi_hooks::plain_handle(library_, handle); }
  // Reports an error of ours and calls the communicator's error handler, if one is given; returns the code for the
  // caller.
  int raise(const Error& error, std::optional<mpi::Handle> communicator);
  // Writes a sentence to stderr, the first in this process only.
  void say(const std::string& sentence);
  void say_once_for_all(const std::string& sentence); // by rank 0, for what all ranks find

 private:
  friend class mpi_hooks::MpiLifetime<Interposer>;
  static constexpr std::string_view otherwise = "the MPI library runs all calls";
  explicit Interposer(mpi::Library library);
  void ends();                   // frees everything, and rank 0 of the world writes what ran
  void gone(mpi::Handle handle); // freed by a call that is not hooked
  void connect_wanted(mpi::Handle handle);
  void set_up(mpi::Handle handle); // collective
  bool may_set_up(mpi::Handle handle);
  void watch_over(mpi::Handle handle);
  static int copied(mpi::Handle, int, void*, void*, void*, int* flag);
  static int deleted(mpi::Handle handle, int, void*, void* interposer);

  void write(const std::string& sentence);
  bool everyone_is_here();
  enum class Ended : std::uint8_t { by_finalize, without_finalize };
  void write_summary(); // of all ranks, by rank 0
  enum class Counted : std::uint8_t { all_ranks, rank_0, this_rank };
  void write_summary(Ended ended, Counted counted);
  void write_unfinished(Counted counted = Counted::rank_0);
  bool adds_up(); // whether the ranks can sum up their counters

  RunSettings settings_;
  mpi::Types types_;
  Reproducible reproducible_ = Reproducible::off;
  Wisdom wisdom_;
  std::string wisdom_path_, kernels_path_; // of the files that choices of algorithms and kernels are from, or empty
  std::optional<PlaceInShape> place_;      // of this process
  std::uint64_t hash_ = 0;
  CallCounters counters_;
  int keyval_ = 0;
  pid_t process_ = getpid();

  std::shared_mutex mutex_; // of what follows; each change calls FastPath::forget()
  std::unordered_map<mpi::Handle, Communicator*> by_handle_;
  std::unordered_set<mpi::Handle> wanted_;         // by non-blocking calls
  std::unordered_set<mpi::Handle> watched_;        // those that carry our attribute
  std::atomic<bool> wants_ = false;                // whether any is
  CommunicatorCache cache_;                        // outlives them
  std::vector<std::unique_ptr<Communicator>> all_; // in the order in which they were first used
  std::map<std::string, std::int64_t> shapes_;     // of communicators, by name
  Nonblocking nonblocking_{library_,
                           [this](const Error& e, std::optional<mpi::Handle> where) { return raise(e, where); }};
  std::mutex alone_mutex_;
  bool asked_for_alone_ = false;
  std::atomic<mpi::Handle> alone_ = 0;
  std::atomic<bool> one_sided_ = false, is_nonblocking_ = false;
  static constexpr std::int32_t most_set_up_early = 4;
  std::atomic<std::int32_t> set_up_early_ = 0;
  std::atomic<bool> has_spoken_ = false, has_raised_ = false;
};

} // namespace kumihimo::interpose
