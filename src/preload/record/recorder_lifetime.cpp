// The start of a Recorder, and its end without MPI_Finalize.
#include "mpi_hooks/preload_check.hpp"
#include "record/recorder.hpp"
#include "thread_samples/processor_lists.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string_view>
#include <utility>

namespace kumihimo::record {
namespace {

// The settings of this process. A spawned world writes its own profile, named after a process, and no trace.
Settings settings_for(const mpi::Library& library) {
  Settings settings = settings_of_environment();
  if (!mpi_hooks::is_spawned(library)) return settings;
  if (!settings.output.empty()) settings.output += fmt::format(".spawned-{}", getpid());
  settings.trace.clear(), settings.threads.clear();
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

// By the variable that the launcher sets: of mpirun in a step of Slurm, mpirun's own. All are the first, if none is
// set.
bool is_first_of_node() {
  for (const char* const name : {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"})
    if (const char* const rank = std::getenv(name)) return std::string_view(rank) == "0";
  return true;
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
      pending_collectives_(library_.constants.request_null), process_(getpid()),
      processors_(thread_samples::processors_of_thread(0)), begun_ns_(Clock::now_ns()) {
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
  if (settings_.look_after_ns >= 0)
    sampler_.emplace(thread_samples::ThreadSampler::Rules{
        .after = std::chrono::nanoseconds(settings_.look_after_ns),
        .tells_node = is_first_of_node(),
        .then = settings_.threads.empty() ? std::function<void()>() : [this] { write_thread_samples(); }});
  return true;
}

} // namespace kumihimo::record
