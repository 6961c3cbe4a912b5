// The start of a Recorder, and its end without MPI_Finalize.
#include "mpi_hooks/preload_check.hpp"
#include "record/recorder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace kumihimo::record {
namespace {

// The settings of this process. A spawned world writes its own profile, named after a process, and no trace.
Settings settings_for(const mpi::Library& library) {
  Settings settings = settings_of_environment();
  if (!mpi_hooks::is_spawned(library)) return settings;
  if (!settings.output.empty()) settings.output += fmt::format(".spawned-{}", getpid());
  settings.trace.clear();
  return settings;
}

// Without this check our calls on the program's communicators might match the program's calls on other ranks.
bool everyone_is_here() {
  std::int32_t missed = 0;
  if (mpi_hooks::PreloadCheck::everyone_is_here(object_name, missed)) return true;
  if (missed > 0)
    std::fprintf(stderr,
                 "kumihimo: processes of this node that did not load the recorder: %d; nothing is recorded (check that "
                 "no wrapper clears LD_PRELOAD)\n",
                 missed);
  return false;
}

} // namespace

// Does nothing in a process forked from a rank.
void Recorder::at_exit() {
  Recorder* const recorder = of_process.load();
  if (!recorder || recorder->process_ != getpid()) return;
  try {
    if (recorder->end()) recorder->write_alone();
  } catch (...) { // the exit status must stay the program's
    std::fprintf(stderr, "kumihimo: the profile of rank %d could not be written\n", recorder->rank());
  }
}

Recorder::Recorder(mpi::Library library)
    : MpiLifetime(std::move(library)), settings_(settings_for(library_)), counters_before_(counters_.read()),
      clock_(library_, settings_.skew_ns), communicators_(library_), types_(library_), call_traffic_(library_, types_),
      wait_time_(library_, clock_), regions_(counters_),
      trace_(library_, !settings_.trace.empty(), settings_.most_events),
      pending_collectives_(library_.constants.request_null), process_(getpid()), processors_(allowed_processors()),
      begun_ns_(Clock::now_ns()) {
  notes_processor_time_ = trace_ && shares_processors();
  constexpr int readings = 256;
  const std::int64_t before = Clock::now_ns();
  std::int64_t after = before;
  for (int i = 0; trace_ && i < readings; ++i) after = Clock::now_ns();
  clock_ns_ = (after - before) / readings;
  over_ = !begin();
}

bool Recorder::begin() {
  if (!everyone_is_here()) return false;
  communicators_.begin();
  if (is_init_hooked) clock_.begin();
  return true;
}

} // namespace kumihimo::record
