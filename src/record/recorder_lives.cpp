// Where a Recorder begins and ends: with MPI_COMM_WORLD once in a process, without it as often as the program opens a
// session of MPI's when it has none.
#include "caught/roll_call.hpp"
#include "record/recorder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

namespace kumihimo::record {
namespace {

// Of a process that others of the program have started by MPI_Comm_spawn: it has a world of its own, whose ranks count
// from 0 again. Where there is none that cannot be asked.
bool is_spawned(const mpi::Library& library) {
  if (!mpi::is_running()) return false;
  const auto parent_of = reinterpret_cast<int (*)(mpi::Handle*)>(mpi::loaded_symbol("PMPI_Comm_get_parent"));
  mpi::Handle parent = library.constants.comm_null;
  if (!parent_of || parent_of(&parent) != 0) return false;
  const bool wide = library.family == mpi::Family::open_mpi; // MPICH's is an int
  return (wide ? parent : static_cast<std::int32_t>(parent)) != library.constants.comm_null;
}

// Beside the profile and the trace of those who started it: a world's profile is named after the process of its rank 0.
Settings settings_for(const mpi::Library& library) {
  Settings settings = settings_of_environment();
  if (!is_spawned(library)) return settings;
  if (!settings.output.empty()) settings.output += fmt::format(".spawned-{}", getpid());
  settings.trace.clear();
  return settings;
}

// Else calls of ours over the program's communicators would meet the program's own on the others.
bool everyone_is_here() {
  std::int32_t missed = 0;
  if (caught::RollCall::everyone_is_here(object_name, missed)) return true;
  if (missed > 0)
    std::fprintf(stderr,
                 "kumihimo: our object in all processes of this node, found %d without it (does a wrapper clear "
                 "LD_PRELOAD?); nothing is recorded\n",
                 missed);
  return false;
}

} // namespace

std::atomic<Recorder*> Recorder::made = nullptr;
std::mutex Recorder::of_lives;

Recorder* Recorder::current() {
  Recorder* recorder = made.load(std::memory_order_acquire);
  if (recorder) [[likely]]
    return recorder->finished_.load(std::memory_order_relaxed) ? nullptr : recorder;
  static std::atomic<bool> unknown = false;
  if (unknown || (!mpi::is_running() && !caught::ProgramSessions::any())) return nullptr;
  const std::lock_guard lock(of_lives);
  if ((recorder = made)) return recorder;
  Result<mpi::Library> library = mpi::loaded_library();
  if (!library) {
    unknown = true;
    std::fprintf(stderr, "kumihimo: %s; nothing is recorded\n", library.error().sentence().c_str());
    return nullptr;
  }
  std::unique_ptr<caught::OwnSession> own;
  if (!mpi::is_running() && !(own = caught::OwnSession::open(*library))) {
    unknown = true;
    std::fprintf(stderr, "kumihimo: the MPI library opens no further session; nothing is recorded\n");
    return nullptr;
  }
  if (!own && !everyone_is_here()) {
    unknown = true;
    return nullptr;
  }
  made = recorder = new Recorder(std::move(*library), std::move(own));
  return recorder;
}

void Recorder::life_begins() {
  const std::lock_guard lock(of_lives);
  if (Recorder* const recorder = made) recorder->go_on();
}

void Recorder::last_session_ends() {
  const std::lock_guard lock(of_lives);
  if (caught::ProgramSessions::any()) return; // another thread has opened one meanwhile
  if (Recorder* const recorder = made; recorder && !mpi::is_running()) recorder->pause();
}

// Not of a child that was forked from a rank.
void Recorder::at_exit() {
  Recorder* const recorder = made.load();
  if (!recorder || recorder->process_ != getpid()) return;
  try {
    recorder->write_alone(Ended::without);
  } catch (...) { // the exit status is the program's, come what may
    std::fprintf(stderr, "kumihimo: the part of rank %d could not be written\n", recorder->rank_);
  }
}

Recorder::Recorder(mpi::Library library, std::unique_ptr<caught::OwnSession> own)
    : library_(std::move(library)), settings_(settings_for(library_)), counters_before_(counters_.read()),
      clock_(library_, settings_.skew_ns), communicators_(library_), volumes_(library_), splitting_(library_, clock_),
      regions_(counters_), trace_(library_, !settings_.trace.empty(), settings_.most_events), process_(getpid()) {
  begin(std::move(own));
  begun_ns_ = Clock::now_ns();
}

void Recorder::begin(std::unique_ptr<caught::OwnSession> own) {
  own_session_ = std::move(own);
  has_world_ = own_session_ == nullptr;
  if (has_world_) {
    library_.call.Comm_rank(library_.constants.comm_world, &rank_);
    library_.call.Comm_size(library_.constants.comm_world, &ranks_);
  } else {
    rank_ = own_session_->rank(), ranks_ = own_session_->ranks();
  }
  communicators_.begin(own_session_.get());
}

void Recorder::go_on() {
  if (!paused_ && (finished_ || has_world_ || !mpi::is_running())) return;
  std::unique_ptr<caught::OwnSession> own;
  if (paused_ && !mpi::is_running() && !(own = caught::OwnSession::open(library_))) return;
  if (!own && !everyone_is_here()) { // at MPI_Finalize all ranks were to be together
    finished_ = true, paused_ = false;
    return;
  }
  if (paused_)
    begin(std::move(own));
  else
    has_world_ = true;
  // What was recorded is in the profile that is written at MPI_Finalize.
  if (has_world_ && !settings_.output.empty()) std::remove(part_path().c_str());
  paused_ = false, finished_ = false;
}

void Recorder::pause() {
  if (has_world_ || finished_) return;
  write_alone(Ended::with_session);
  finished_ = true;
  communicators_.end();
  own_session_.reset();
  paused_ = true;
}

} // namespace kumihimo::record
