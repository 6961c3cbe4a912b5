#include "interpose/watchdog.hpp"

#include "base/terminal_text.hpp"
#include "interpose/memory_reserve.hpp"
#include "interpose/tcp_peers.hpp"
#include "mpi_hooks/preload_check.hpp"
#include "shared_memory/signals_blocked.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace kumihimo::interpose {
namespace {

using Clock = std::chrono::steady_clock;

// The call that a thread is in. Only this thread writes it, without a lock. The watching thread may see the name of one
// call with the peer of the next, but never an old time with a new call: the time is set last and cleared first.
struct WatchedCall {
  std::atomic<bool> is_taken = false;
  std::atomic<Clock::rep> since = 0; // 0: in no call
  std::atomic<mpi_hooks::Name> name{};
  std::atomic<std::int32_t> peer = -1; // in the call's communicator; -1: unknown
};
constinit std::array<WatchedCall, 1024> watched_calls; // threads beyond are not watched

class WatchedThread {
 public:
  WatchedThread() {
    const auto free = std::find_if(watched_calls.begin(), watched_calls.end(),
                                   [](WatchedCall& s) { return !s.is_taken.exchange(true); });
    if (free != watched_calls.end()) call_ = &*free;
  }
  ~WatchedThread() {
    if (!call_) return;
    call_->since = 0;
    call_->is_taken = false;
    call_ = nullptr;
  }
  WatchedThread(const WatchedThread&) = delete;
  WatchedThread& operator=(const WatchedThread&) = delete;
  WatchedCall* call() { return call_; }

 private:
  WatchedCall* call_ = nullptr;
};
thread_local WatchedThread mine;

// Shares of the time limit: the pause between checks, and the time of a call that ends the job. Transports, which know
// the awaited rank, give up before.
constexpr double share_of_look = 0.04, share_of_end = 0.95;
constexpr double shortest_look_seconds = 0.01, longest_look_seconds = 1;
// Time for the launcher to forward the message before it learns of the abort, and for MPI_Abort to end the process.
constexpr std::chrono::milliseconds for_words{200};
constexpr std::chrono::seconds for_abort{5};

std::int32_t peer_of(const mpi_hooks::HookedCall& call) {
  for (const mpi_hooks::Role role : {mpi_hooks::Role::source, mpi_hooks::Role::destination, mpi_hooks::Role::target})
    if (call.has(role)) return static_cast<std::int32_t>(call.integer(role)); // below 0: any, or none
  return -1;
}

// A call that has lasted at least that long, as text; empty: none.
std::string overdue(double seconds) {
  for (const WatchedCall& watched : watched_calls) {
    const Clock::rep since = watched.since.load(std::memory_order_acquire);
    const Clock::duration lasted = Clock::now().time_since_epoch() - Clock::duration(since);
    if (since == 0 || std::chrono::duration<double>(lasted).count() < seconds) continue;
    const std::string name(mpi_hooks::describe(watched.name).name);
    const std::int32_t peer = watched.peer;
    return peer < 0 ? name : fmt::format("{} with rank {} of its communicator", name, peer);
  }
  return {};
}

// The rank before MPI_Init, from the launcher's environment.
std::string rank_by_launcher() {
  for (const char* const name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"})
    if (const char* const rank = std::getenv(name)) return fmt::format("rank {}", rank);
  return fmt::format("process {}", getpid());
}

// Empty without a summary, whose folder is that of the run.
std::string file_of_giving_up() {
  const char* const summary = std::getenv("KUMIHIMO_SUMMARY");
  return summary && *summary ? fmt::format("{}.given_up{}", summary, getpid()) : "";
}

} // namespace

std::atomic<bool> Watchdog::watches = false;
std::atomic<const mpi::Library*> Watchdog::known = nullptr;

void Watchdog::note(const mpi_hooks::HookedCall& call) {
  WatchedCall* const watched = mine.call();
  if (!watched) return;
  watched->name.store(call.name, std::memory_order_relaxed);
  watched->peer.store(peer_of(call), std::memory_order_relaxed);
  watched->since.store(Clock::now().time_since_epoch().count(), std::memory_order_release);
}

void Watchdog::leave() {
  if (!is_on()) return;
  if (WatchedCall* const watched = mine.call()) watched->since.store(0, std::memory_order_relaxed);
}

void Watchdog::give_up() {
  if (const std::string path = file_of_giving_up(); !path.empty())
    if (std::FILE* const file = std::fopen(path.c_str(), "w")) std::fclose(file); // other nodes may lack the folder
}

void Watchdog::go_on() {
  if (const std::string path = file_of_giving_up(); !path.empty()) std::remove(path.c_str());
}

void Watchdog::begin(double seconds) {
  static std::once_flag begun;
  std::call_once(begun, [&] {
    const SignalsBlocked blocked;
    watches = attempted([&] { return std::thread(&Watchdog::watch, seconds).detach(), true; }, [] { return false; });
    if (!watches)
      std::fprintf(stderr, "kumihimo: no thread can be started for --timeout (see ulimit -u); calls in the MPI library "
                           "have no time limit\n");
  });
}

void Watchdog::watch(double seconds) {
  const auto pause =
      std::chrono::duration<double>(std::clamp(share_of_look * seconds, shortest_look_seconds, longest_look_seconds));
  for (;;) {
    std::this_thread::sleep_for(pause);
    if (const std::string call = overdue(share_of_end * seconds); !call.empty()) end(call, seconds);
  }
}

void Watchdog::end(const std::string& what, double seconds) {
  const auto exit_late = [] { // in case the library hangs in the calls below, too
    std::this_thread::sleep_for(for_abort);
    _exit(1);
  };
  attempted([&] { return std::thread(exit_late).detach(), true; }, [] { return false; });
  const mpi::Library* library = known.load(); // not during MPI_Init, where a library may hold a lock
  if (library && !mpi::is_running()) library = nullptr;
  std::string whose = rank_by_launcher();
  if (int rank = 0; library && library->call.Comm_rank(library->constants.comm_world, &rank) == 0)
    whose = fmt::format("rank {}", rank);
  const std::string silent = silent_peers();
  const Error error = failed(fmt::format("{} did not return within the time limit of {:g} s", what, seconds),
                             silent.empty() ? "" : "no answer over TCP from " + silent,
                             "check that all ranks still run, or give a longer --timeout");
  std::fprintf(stderr, "kumihimo: %s: %s\n", whose.c_str(), visible(error.sentence()).c_str());
  give_up();
  std::this_thread::sleep_for(for_words);
  mpi_hooks::PreloadCheck::abandon();
  if (library) library->call.Abort(library->constants.comm_world, 1);
  _exit(1);
}

} // namespace kumihimo::interpose
