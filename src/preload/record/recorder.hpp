// The state of the recorder in a process, from MPI_Init on. It writes the profile at MPI_Finalize, or this rank's part
// if the process ends without: then there is no trace. A trace lacks what a thread tested last, if it is in a call as
// another one ends MPI.
#pragma once

#include "mpi/types.hpp"
#include "mpi_hooks/call.hpp"
#include "mpi_hooks/mpi_lifetime.hpp"
#include "record/call_counts.hpp"
#include "record/call_traffic.hpp"
#include "record/call_traits.hpp"
#include "record/clock.hpp"
#include "record/communicators.hpp"
#include "record/counters.hpp"
#include "record/pending_collectives.hpp"
#include "record/per_thread.hpp"
#include "record/processors.hpp"
#include "record/regions.hpp"
#include "record/trace.hpp"
#include "record/wait_time.hpp"
#include "thread_samples/thread_sampler.hpp"

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace kumihimo::record {

// The settings of a recording, which `kumihimo record` passes in the environment.
struct Settings {
  std::string output;  // KUMIHIMO_RECORD: the profile, by rank 0; beside it parts of ranks that do not end MPI
  std::string program; // KUMIHIMO_PROGRAM: by which its choices are found, for the profile
  bool sync = false;   // KUMIHIMO_RECORD_SYNC: a barrier before each blocking collective
  std::string trace;   // KUMIHIMO_RECORD_TRACE: a folder for the events of each rank
  std::string fault;   // KUMIHIMO_RECORD_FAULT: a file that gets a line for each file that could not be written
  std::int64_t most_events = 1'000'000; // KUMIHIMO_RECORD_EVENTS: of each rank
  // KUMIHIMO_RECORD_SKEW: nanoseconds by which each rank's clock is put before that of the rank below; each rank then
  // counts as a node. For tests of the synchronisation.
  std::int64_t skew_ns = 0;
  // KUMIHIMO_RECORD_THREADS: a file; each rank writes its thread samples at once to one of this name and its rank.
  std::string threads;
  // KUMIHIMO_RECORD_LOOK: nanoseconds from MPI_Init to the second look at the threads. Below 0: there are no looks.
  std::int64_t look_after_ns = 2'000'000'000;
};

inline Settings settings_of_environment() {
  const auto text = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value ? value : "");
  };
  Settings settings;
  settings.output = text("KUMIHIMO_RECORD");
  settings.program = text("KUMIHIMO_PROGRAM");
  settings.sync = !text("KUMIHIMO_RECORD_SYNC").empty();
  settings.trace = text("KUMIHIMO_RECORD_TRACE");
  settings.fault = text("KUMIHIMO_RECORD_FAULT");
  settings.skew_ns = std::atoll(text("KUMIHIMO_RECORD_SKEW").c_str());
  settings.threads = text("KUMIHIMO_RECORD_THREADS");
  if (const std::string after = text("KUMIHIMO_RECORD_LOOK"); !after.empty())
    settings.look_after_ns = std::atoll(after.c_str());
  if (const std::int64_t most = std::atoll(text("KUMIHIMO_RECORD_EVENTS").c_str()); most > 0)
    settings.most_events = most;
  return settings;
}

class Recorder : public mpi_hooks::MpiLifetime<Recorder> {
 public:
  // Indices of Call::notes, kept from before() to after(). `begun` is 0 for a call that is not timed.
  // `has_noted`, of waits and tests: their requests are noted (completions.hpp).
  enum Note : std::size_t { begun, on, weight, kind_number, at_site, has_noted = weight };

  // Called before MPI_Init.
  static void note_mpi_init_entered() { is_init_hooked = true; }

  // Whether the call is to be timed. If not, after_untimed() comes in place of after().
  [[gnu::always_inline]] bool before(mpi_hooks::HookedCall& call) {
    if (trace_) [[unlikely]]
      note_hooked();
    const CallTraits& traits = traits_of(call.name);
    if (!traits.at_a_site) return note_communicator(call, communicator_of(call)), before_timed(call), true;
    CallSite& site = site_of(call, traits);
    call.notes[at_site] = reinterpret_cast<mpi_hooks::Word>(&site);
    if (traits.may_be_untimed && site.row && !site.row->times_next_call() && recording_.load(std::memory_order_relaxed))
      return false;
    return before_timed(call), true;
  }
  // Functions of each call are `hot`: the linker puts them together, so that they share pages and cache lines.
  [[gnu::hot]] void after_untimed(const mpi_hooks::HookedCall& call, int code);
  // `exit_ns`: the time when the call returned.
  [[gnu::hot]] void after(const mpi_hooks::HookedCall& call, int code, std::int64_t exit_ns);

  void begin_region(const char* name, const char* expectation, const RegionPlace& place);
  void end_region(const char* name);

  // Writes this rank's part if the process ends without MPI_Finalize.
  static void at_exit();

 private:
  // The data that a persistent request moves at each start.
  struct Persistent {
    mpi_hooks::Name name{};
    std::int64_t bytes = 0;
    bool collective = false;
    int partner = -1; // in the world
  };

  friend class mpi_hooks::MpiLifetime<Recorder>;
  static constexpr std::string_view otherwise = "nothing is recorded";
  explicit Recorder(mpi::Library library);
  bool begin();
  void ends();
  static ThreadRecord& thread() { return PerThread<ThreadRecord>::mine(); }
  static void note_communicator(mpi_hooks::HookedCall& call, RecordedCommunicator* communicator);
  [[gnu::hot]] void before_timed(mpi_hooks::HookedCall& call);
  Key key_of(const mpi_hooks::HookedCall& call, const RecordedCommunicator* communicator) const;
  ChoiceKey question_of(const mpi_hooks::HookedCall& call, const CallTraffic& moved, ThreadRecord& thread) const;
  CallTraffic moved_by(const mpi_hooks::HookedCall& call, const RecordedCommunicator* communicator) const;
  RecordedCommunicator* communicator_of(const mpi_hooks::HookedCall& call);
  // Notes the communicator, too.
  [[gnu::always_inline]] CallSite& site_of(mpi_hooks::HookedCall& call, const CallTraits& traits) {
    ThreadRecord& mine = thread();
    std::uint32_t kind = 0;
    if (traits.handle_at >= 0) {
      mpi_hooks::Word handle = call.words()[traits.handle_at];
      if (call.language == mpi_hooks::Language::fortran)
        handle = static_cast<mpi_hooks::Word>(*reinterpret_cast<const int*>(handle));
      KnownHandle& known = mine.handles.place_of(handle);
      const std::uint64_t epoch = communicators_.epoch();
      if (!known.is(handle, epoch, traits.is_window, call.language)) [[unlikely]]
        known = known_handle(call, traits, handle, epoch);
      kind = known.kind;
      call.notes[on] = reinterpret_cast<mpi_hooks::Word>(known.communicator);
      call.notes[kind_number] = kind;
    }
    CallSite& site = mine.sites.place_of(reinterpret_cast<std::uintptr_t>(call.site) + kind);
    if (!site.is(call.site, kind, call.name)) [[unlikely]]
      site = {call.site, nullptr, kind, call.name};
    return site;
  }
  KnownHandle known_handle(const mpi_hooks::HookedCall& call, const CallTraits& traits, mpi_hooks::Word handle,
                           std::uint64_t epoch);
  bool may_have_untimed(const mpi_hooks::HookedCall& call, const CallTraits& traits) const;
  Row& find_row(const mpi_hooks::HookedCall& call, const RecordedCommunicator* communicator, ChoiceKey question,
                ThreadRecord& mine);
  void before_collective(mpi_hooks::HookedCall& call, RecordedCommunicator& communicator);
  void keep_sample(const mpi_hooks::HookedCall& call, RecordedCommunicator& communicator, Row* row,
                   std::int64_t exit_ns, std::shared_ptr<const Completion> completion = {});
  void after_collective(const mpi_hooks::HookedCall& call, RecordedCommunicator& communicator, Row* row,
                        std::int64_t exit_ns);
  [[gnu::hot]] void count_message(const CallTraffic& moved, const RecordedCommunicator& communicator, bool one_sided,
                                  ThreadRecord& mine);
  void count(const mpi_hooks::HookedCall& call, const RecordedCommunicator* communicator, const CallTraffic& moved,
             Row& row, ThreadRecord& thread);
  void note_persistent(const mpi_hooks::HookedCall& call, const RecordedCommunicator* communicator,
                       const CallTraffic& moved);
  void forget_request(const mpi_hooks::HookedCall& call);
  void forget_reused_handle(const mpi_hooks::HookedCall& call, const CallTraits& traits);
  void begin_collective(const mpi_hooks::HookedCall& call, RecordedCommunicator& communicator, Row* row,
                        std::int64_t exit_ns);
  void start(mpi::Handle request, Row& row, ThreadRecord& thread);
  void note_handles(const mpi_hooks::HookedCall& call, const RecordedCommunicator* communicator, const Row* row);
  void note_hooked();
  trace::Elapsed elapsed(const ThreadRecord& mine, std::int64_t entry_ns) const;
  void add_polls(ThreadRecord& mine);
  void trace(const mpi_hooks::HookedCall& call, const RecordedCommunicator* communicator, const Row* row, int code,
             std::int64_t exit_ns);
  void trace_region(trace::EventKind kind, const std::string& name);
  void note_starts(const mpi_hooks::HookedCall& call, const Event& entry, std::vector<Event>& events);
  void note_messages(const mpi_hooks::HookedCall& call, const RecordedCommunicator& communicator, Event event,
                     std::int64_t exit_ns, std::vector<Event>& events);
  void before_end(const mpi_hooks::HookedCall& call);
  void control(const mpi_hooks::HookedCall& call);
  void write_alone();
  void write_thread_samples() const;
  void report(const Status& written) const;
  void write_events(const Event& end);
  std::string header() const;
  std::string part(bool whole);
  void gather(mpi::Handle world, const std::string& mine) const;

  static inline std::atomic<bool> is_init_hooked = false; // else it is unknown when all ranks are together

  Settings settings_;
  Counters counters_;
  Counters::Values counters_before_{};
  Clock clock_;
  Communicators communicators_;
  mpi::Types types_;
  CallTrafficReader call_traffic_;
  WaitTime wait_time_;
  Regions regions_;
  TraceBuffer trace_;
  PendingCollectives pending_collectives_;
  pid_t process_;
  std::optional<thread_samples::ThreadSampler> sampler_;
  std::string processors_;            // that the launcher lets this process run on
  bool notes_processor_time_ = false; // of computing, in the trace
  std::int64_t clock_ns_ = 0;         // that a reading of the clock takes
  std::int64_t begun_ns_ = 0;
  std::atomic<bool> recording_ = true;
  std::mutex mutex_; // of what follows
  std::unordered_map<mpi::Handle, Persistent> persistent_;
};

} // namespace kumihimo::record
