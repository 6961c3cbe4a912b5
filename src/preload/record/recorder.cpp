#include "record/recorder.hpp"

#include "mpi_hooks/fortran.hpp"
#include "record/call_traits.hpp"
#include "record/completions.hpp"
#include "record/processors.hpp"
#include "record/python_frames.hpp"
#include "record/wait_time.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

namespace kumihimo::record {

using mpi_hooks::CallKind;
using mpi_hooks::HookedCall;
using mpi_hooks::Name;
using mpi_hooks::Role;

namespace {

bool is_blocking_collective(const HookedCall& call) { return call.kind() == CallKind::collective; }

// With the extension for fault tolerance, nothing can be sent on a revoked communicator, after a rank failed.
bool is_revoked(const RecordedCommunicator& communicator) {
  static const auto ask = reinterpret_cast<int (*)(mpi::Handle, int*)>(mpi::loaded_symbol("PMPIX_Comm_is_revoked"));
  int is = 0;
  return ask && ask(communicator.handle, &is) == 0 && is;
}

WaitsFor awaited_in(Name name) {
  const CollectiveRow* const collective = mpi_hooks::collective_of(name).row;
  if (!collective) return WaitsFor::all;
  if (collective->of_prefixes() || collective->of_neighbours()) return WaitsFor::cannot_be_told;
  if (collective->output.whose == WhichRanks::root) return WaitsFor::all_by_the_root;
  return collective->input.whose == WhichRanks::root ? WaitsFor::root : WaitsFor::all;
}

} // namespace

Key Recorder::key_of(const HookedCall& call, const RecordedCommunicator* communicator) const {
  Key key{reinterpret_cast<std::uintptr_t>(call.site), communicator ? communicator->kind : 0, call.name, false};
  PythonFrames& python = PythonFrames::get();
  if (python.is_python(call.site))
    if (const int place = python.place(); place >= 0) {
      key.python = true;
      key.site = static_cast<std::uintptr_t>(place);
    }
  return key;
}

// The question of a collective that has returned without an error.
ChoiceKey Recorder::question_of(const HookedCall& call, const CallTraffic& moved, ThreadRecord& mine) const {
  ChoiceKey question;
  question.size_class = static_cast<std::uint8_t>(class_of(moved.length));
  for (const Role role : {Role::send_buffer, Role::receive_buffer})
    if (call.has(role) && call.in_place(role)) question.in_place = 1;
  // Of the two sides the one that means something at every rank and is no place.
  const bool receives =
      (mpi_hooks::collective_of(call.name).row->input.whose == WhichRanks::root) != (question.in_place != 0);
  const Role role = call.has(Role::type) ? Role::type : receives ? Role::receive_type : Role::send_type;
  const auto is_new = [](ThreadRecord::LastHandle& last, mpi::Handle handle) {
    const bool changed = !last.known || last.handle != handle;
    return last = {handle, true}, changed;
  };
  if (call.has(role)) {
    const mpi::Handle handle = call.handle(role);
    if (is_new(mine.last_type, handle)) {
      const mpi::NamedType* const known = types_.find(handle);
      mine.its_type = known ? static_cast<std::uint8_t>(known->type) : ChoiceKey::none;
    }
    question.type = mine.its_type;
  }
  if (call.has(Role::operation)) {
    const mpi::Handle handle = call.handle(Role::operation);
    if (is_new(mine.last_operation, handle))
      mine.its_operation = static_cast<std::uint8_t>(types_.operation(handle).value_or(Operation::user));
    question.operation = mine.its_operation;
  }
  return question;
}

// What a call that has returned without an error has moved.
CallTraffic Recorder::moved_by(const HookedCall& call, const RecordedCommunicator* communicator) const {
  if (call.kind() == CallKind::start || (!communicator && !call.has(Role::receive_count))) return {};
  return call_traffic_.of(call, communicator ? communicator->rank_of_root() : 0);
}

RecordedCommunicator* Recorder::communicator_of(const HookedCall& call) {
  if (call.kind() == CallKind::environment) return nullptr;
  if (call.has(Role::communicator)) return communicators_.of(call.handle(Role::communicator));
  if (call.has(Role::window)) return communicators_.of_window(call.handle(Role::window));
  if (call.has(Role::ended_communicator)) return communicators_.of(call.handle_at(Role::ended_communicator));
  if (call.has(Role::ended_window)) return communicators_.of_window(call.handle_at(Role::ended_window));
  return nullptr;
}

KnownHandle Recorder::known_handle(const HookedCall& call, const CallTraits& traits, mpi_hooks::Word handle,
                                   std::uint64_t epoch) {
  RecordedCommunicator* const communicator = communicator_of(call);
  return {handle, epoch, communicator, communicator ? communicator->kind : 0, traits.is_window, call.language};
}

void Recorder::note_communicator(HookedCall& call, RecordedCommunicator* communicator) {
  call.notes[on] = reinterpret_cast<mpi_hooks::Word>(communicator);
  call.notes[kind_number] = communicator ? communicator->kind : 0;
}

void Recorder::before_timed(HookedCall& call) {
  const CallTraits& traits = traits_of(call.name);
  auto* const communicator = reinterpret_cast<RecordedCommunicator*>(call.notes[on]);
  switch (traits.kind) {
  case CallKind::collective:
  case CallKind::nonblocking_collective:
    if (communicator) before_collective(call, *communicator);
    break;
  case CallKind::point_to_point:
    if (traits.receives_with_status && call.ignores_status())
      call.replace(Role::status, reinterpret_cast<mpi_hooks::Word>(&thread().status));
    break;
  case CallKind::wait:
  case CallKind::test:
    if (call.name == Name::Request_free) forget_request(call);
    if ((trace_ || pending_collectives_.any()) && completes(call)) {
      note_requests(call);
      call.notes[has_noted] = 1;
    }
    if (trace_ && completes(call)) trace_.before_completion(call);
    break;
  case CallKind::communicator_end:
  case CallKind::window_end: before_end(call); break;
  case CallKind::environment:
    if (const CountingFlag::Scope counting(thread().counting, over_); trace_ && counting) add_polls(thread());
    if (call.name == Name::Finalize) world_ends();
    if (call.name == Name::Abort && end()) write_alone();
    break;
  default: break;
  }
}

void Recorder::before_collective(HookedCall& call, RecordedCommunicator& communicator) {
  if (communicator.inter || communicator.size <= 1 || communicator.of_session) return;
  if (settings_.sync) {
    if (!is_blocking_collective(call)) return;
    const std::int64_t entry = Clock::now_ns();
    library_.call.Barrier(communicator.handle);
    thread().sync_ns = Clock::now_ns() - entry;
  } else if (clock_.has_begun()) { // not if MPI_Init was not hooked
    call.notes[weight] = static_cast<mpi_hooks::Word>(weight_of(communicator.collectives++));
  }
}

void Recorder::before_end(const HookedCall& call) {
  auto* const communicator = reinterpret_cast<RecordedCommunicator*>(call.notes[on]);
  if (!communicator) return;
  if (!communicator->samples.empty() && !is_revoked(*communicator)) {
    if (call.name == Name::Comm_free)
      wait_time_.split_before_free(*communicator);
    else
      wait_time_.split({communicator});
  }
  // The end of a communicator is reported by its attribute: this call may fail.
  if (call.has(Role::ended_window)) communicators_.window_ended(call.handle_at(Role::ended_window));
}

void Recorder::after_untimed(const HookedCall& call, int code) {
  ThreadRecord& mine = thread();
  const CountingFlag::Scope counting(mine.counting, over_);
  if (!counting) return;
  const CallTraits& traits = traits_of(call.name);
  const auto* const communicator = reinterpret_cast<const RecordedCommunicator*>(call.notes[on]);
  Row& row = *reinterpret_cast<const CallSite*>(call.notes[at_site])->row;
  ++row.calls;
  mine.last_was_timed = false;
  if (code == 0) forget_reused_handle(call, traits);
  if (code != 0 || !traits.moves_data) return;
  if (traits.partner_at < 0 || call.language != mpi_hooks::Language::c || !communicator)
    return count(call, communicator, moved_by(call, communicator), row, mine);
  const CallTraffic moved = call_traffic_.of_message(call, traits);
  row.bytes += moved.bytes;
  count_message(moved, *communicator, traits.kind == CallKind::one_sided, mine);
}

void Recorder::after(const HookedCall& call, int code, std::int64_t exit_ns) {
  ThreadRecord& mine = thread();
  const CountingFlag::Scope counting(mine.counting, over_);
  if (!counting) return;
  if (call.name == Name::Pcontrol) return control(call);
  const CallTraits& traits = traits_of(call.name);
  const bool ends = traits.kind == CallKind::communicator_end || traits.kind == CallKind::window_end;
  auto* const communicator = ends ? nullptr : reinterpret_cast<RecordedCommunicator*>(call.notes[on]);
  const auto entry_ns = static_cast<std::int64_t>(call.notes[begun]);
  std::int64_t ns = exit_ns - entry_ns;
  const bool blocking_collective = traits.kind == CallKind::collective;
  const bool synced = settings_.sync && blocking_collective && communicator && !communicator->of_session;
  if (synced) ns += mine.sync_ns;
  Row* row = nullptr;
  if (recording_.load(std::memory_order_relaxed)) {
    const CallTraffic moved = code == 0 && traits.moves_data ? moved_by(call, communicator) : CallTraffic{};
    ChoiceKey question;
    if (code == 0 && communicator && traits.is_collective) question = question_of(call, moved, mine);
    row = &find_row(call, communicator, question, mine);
    if (ns > row->longest_ns) row->longest_ns = ns;
    if (ns < row->shortest_ns) row->shortest_ns = ns;
    // A call outside the sample may be timed because its CallSite was lost: left out, since it would be one too many.
    if (may_have_untimed(call, traits)) ns *= row->times_next_call() ? row->timed.note(row->calls, ns) : 0;
    ++row->calls;
    row->ns += ns;
    if (traits.is_collective) {
      row->collective = true;
      const std::int64_t apart = mine.last_exit_ns > 0 ? entry_ns - (synced ? mine.sync_ns : 0) - mine.last_exit_ns : 0;
      (mine.last_was_timed ? row->apart_ns : row->most_apart_ns) += apart;
      row->apart_calls += mine.last_was_timed;
      row->smallest = std::min(row->smallest, moved.length), row->largest = std::max(row->largest, moved.length);
    }
    if (code == 0 && (traits.moves_data || traits.kind == CallKind::start))
      count(call, communicator, moved, *row, mine);
  }
  if (traits.kind != CallKind::environment) mine.mpi_ns += ns; // the program's time goes from MPI_Init to MPI_Finalize
  if (code == 0 && (traits.kind == CallKind::communicator || traits.kind == CallKind::window))
    note_handles(call, communicator, row);
  if (code == 0) forget_reused_handle(call, traits);
  if (traits.kind == CallKind::nonblocking_collective && communicator)
    begin_collective(call, *communicator, code == 0 ? row : nullptr, exit_ns);
  const bool is_completion = traits.kind == CallKind::wait || traits.kind == CallKind::test;
  if (code == 0 && is_completion && call.notes[has_noted] && pending_collectives_.any())
    pending_collectives_.complete(call, entry_ns, exit_ns, recording_.load(std::memory_order_relaxed));
  if (blocking_collective && communicator) after_collective(call, *communicator, row, exit_ns);
  mine.sync_ns = 0;
  mine.last_was_timed = true;
  mine.last_exit_ns = exit_ns;
  if (trace_) trace(call, communicator, row, code, exit_ns);
}

// `row`: null if the call failed or is not recorded.
void Recorder::begin_collective(const HookedCall& call, RecordedCommunicator& communicator, Row* row,
                                std::int64_t exit_ns) {
  std::shared_ptr<Completion> completion;
  if (call.notes[weight] != 0) {
    completion = std::make_shared<Completion>();
    keep_sample(call, communicator, row, exit_ns, completion);
  }
  if (!row) return;
  row->non_blocking_collective = true;
  pending_collectives_.add(call.handle_at(Role::request), {row, exit_ns, std::move(completion)});
}

void Recorder::keep_sample(const HookedCall& call, RecordedCommunicator& communicator, Row* row, std::int64_t exit_ns,
                           std::shared_ptr<const Completion> completion) {
  const WaitsFor awaited = awaited_in(call.name);
  const bool rooted = awaited == WaitsFor::root || awaited == WaitsFor::all_by_the_root;
  const bool is_root = rooted && call.integer(Role::root) == communicator.rank;
  Sample sample{static_cast<std::int64_t>(call.notes[begun]), exit_ns, true, row,
                static_cast<std::int64_t>(call.notes[weight])};
  sample.completion = std::move(completion);
  sample.regions = regions_.around();
  // All ranks keep the same number of samples, because a reduction compares them. If the root waits for all and
  // others for the root, these are two.
  if (awaited == WaitsFor::root) sample.counts = is_root;
  if (awaited == WaitsFor::cannot_be_told || (awaited == WaitsFor::all_by_the_root && !is_root)) sample.row = nullptr;
  communicator.samples.push_back(sample);
  if (awaited != WaitsFor::all_by_the_root) return;
  sample.counts = is_root;
  sample.row = is_root ? nullptr : row;
  sample.may_leave_before = true;
  communicator.samples.push_back(sample);
}

// Whether calls at its site may be untimed, after find_row().
bool Recorder::may_have_untimed(const HookedCall& call, const CallTraits& traits) const {
  return traits.may_be_untimed && !trace_ && reinterpret_cast<const CallSite*>(call.notes[at_site])->row;
}

Row& Recorder::find_row(const HookedCall& call, const RecordedCommunicator* communicator, ChoiceKey question,
                        ThreadRecord& mine) {
  auto* const site = reinterpret_cast<CallSite*>(call.notes[at_site]);
  if (site && site->row && site->row->key.question == question) [[likely]]
    return *site->row;
  Key key = key_of(call, communicator);
  key.communicator = static_cast<std::uint32_t>(call.notes[kind_number]);
  key.question = question;
  Row& row = mine.rows.at(key);
  if (site && !PythonFrames::get().may_be_python(call.site)) site->row = &row;
  return row;
}

void Recorder::after_collective(const HookedCall& call, RecordedCommunicator& communicator, Row* row,
                                std::int64_t exit_ns) {
  const auto entry_ns = static_cast<std::int64_t>(call.notes[begun]);
  if (row) row->blocking_collective = true;
  if (call.notes[weight] != 0) return keep_sample(call, communicator, row, exit_ns);
  const bool alone = communicator.size == 1 && !communicator.inter;
  const bool synced = settings_.sync && !communicator.of_session;
  if (!row || communicator.inter || (!alone && !synced)) return;
  const std::int64_t waiting = settings_.sync ? thread().sync_ns : 0;
  ++row->split_calls;
  row->split_ns += exit_ns - entry_ns + waiting;
  row->waiting_ns += waiting;
  row->transferring_ns += exit_ns - entry_ns;
  for (RegionCounts* region : regions_.around()) region->waiting_ns += waiting;
}

void Recorder::count(const HookedCall& call, const RecordedCommunicator* communicator, const CallTraffic& moved,
                     Row& row, ThreadRecord& mine) {
  if (call.kind() == CallKind::start) {
    const Role role = call.has(Role::requests) ? Role::requests : Role::request;
    const std::int64_t n = call.has(Role::requests) ? call.integer(Role::request_count) : 1;
    for (std::int64_t i = 0; i < n; ++i) start(call.handle(role, i), row, mine);
    return;
  }
  if (!communicator && !call.has(Role::receive_count)) return;
  const bool persistent =
      call.kind() == CallKind::persistent_collective || call.kind() == CallKind::persistent_point_to_point;
  if (persistent) return note_persistent(call, communicator, moved);
  row.bytes += moved.bytes;
  if (call.kind() == CallKind::collective || call.kind() == CallKind::nonblocking_collective)
    mine.note_size(call.name, moved.bytes);
  if (moved.sends && communicator) count_message(moved, *communicator, call.kind() == CallKind::one_sided, mine);
}

void Recorder::count_message(const CallTraffic& moved, const RecordedCommunicator& communicator, bool one_sided,
                             ThreadRecord& mine) {
  PeerTraffic* const traffic = communicators_.traffic(mine, communicator, moved.partner);
  if (!traffic) return;
  ++(one_sided ? traffic->one_sided_messages : traffic->messages);
  (one_sided ? traffic->one_sided_bytes : traffic->bytes) += moved.bytes;
}

void Recorder::note_persistent(const HookedCall& call, const RecordedCommunicator* communicator,
                               const CallTraffic& moved) {
  const bool collective = call.kind() == CallKind::persistent_collective;
  if (!collective && !moved.sends) return forget_request(call); // the sender counts the data of a start
  Persistent persistent{call.name, moved.bytes, collective, -1};
  if (moved.sends && moved.partner >= 0 && communicator)
    persistent.partner = communicators_.world_rank(*communicator, moved.partner);
  const std::lock_guard lock(mutex_);
  persistent_[call.handle_at(Role::request)] = persistent;
}

// The handle of a freed request may be used again.
void Recorder::forget_request(const HookedCall& call) {
  const mpi::Handle request = call.handle_at(Role::request);
  trace_.forget(request);
  pending_collectives_.forget(request);
  const std::lock_guard lock(mutex_);
  persistent_.erase(request);
}

// A collective that was completed past every hook is still pending, and a message has its handle now.
void Recorder::forget_reused_handle(const HookedCall& call, const CallTraits& traits) {
  if (traits.kind == CallKind::nonblocking_point_to_point && call.has(Role::request) && pending_collectives_.any())
    pending_collectives_.forget(call.handle_at(Role::request));
}

void Recorder::start(mpi::Handle request, Row& row, ThreadRecord& mine) {
  const std::lock_guard lock(mutex_);
  const auto it = persistent_.find(request);
  if (it == persistent_.end()) return;
  const Persistent& persistent = it->second;
  row.bytes += persistent.bytes;
  if (persistent.collective) mine.note_size(persistent.name, persistent.bytes);
  if (persistent.partner < 0) return;
  PeerTraffic& traffic = mine.partners[persistent.partner];
  ++traffic.messages;
  traffic.bytes += persistent.bytes;
}

void Recorder::note_handles(const HookedCall& call, const RecordedCommunicator* communicator, const Row* row) {
  const bool window = call.kind() == CallKind::window;
  Origin origin{std::string(call.description().name), communicator ? communicator->kind : 0, 0, false, window};
  if (row) origin.site = row->key.site, origin.python = row->key.python;
  communicators_.made(call.handle_at(window ? Role::new_window : Role::new_communicator), std::move(origin));
}

void Recorder::control(const HookedCall& call) {
  const std::int64_t level = call.integer(Role::level);
  const auto name = level == 1 || level == -1 ? text_at(reinterpret_cast<const void*>(call.words()[1])) : std::nullopt;
  if (level >= 0) recording_ = level != 0;
  // The address that a call of Python returns to is in compiled functions of its MPI module.
  const bool python = PythonFrames::get().is_python(call.site);
  const RegionPlace place{nullptr, 0, python ? 0 : reinterpret_cast<std::uintptr_t>(call.site)};
  if (name && level == 1) regions_.begin(*name, "", thread().mpi_ns, place, false);
  if (name && level == -1) regions_.end(*name, thread().mpi_ns);
  if (name) trace_region(level == 1 ? trace::EventKind::begin_region : trace::EventKind::end_region, *name);
}

void Recorder::begin_region(const char* name, const char* expectation, const RegionPlace& place) {
  if (!name) return;
  regions_.begin(name, expectation ? expectation : "", thread().mpi_ns, place);
  trace_region(trace::EventKind::begin_region, name);
}

void Recorder::end_region(const char* name) {
  if (!name) return;
  regions_.end(name, thread().mpi_ns);
  trace_region(trace::EventKind::end_region, name);
}

void Recorder::trace(const HookedCall& call, const RecordedCommunicator* communicator, const Row* row, int code,
                     std::int64_t exit_ns) {
  const auto entry_ns = static_cast<std::int64_t>(call.notes[begun]);
  ThreadRecord& mine = thread();
  Event event(entry_ns, trace::EventKind::leave);
  static_assert(mpi_hooks::names <= 256);
  event.call = static_cast<std::uint8_t>(call.name), event.thread = mine.number;
  trace::Enter enter{elapsed(mine, settings_.sync ? mine.hooked_ns : entry_ns)}; // a barrier lies between
  if (row) enter.site = static_cast<std::uint32_t>(trace_.number_of(TraceBuffer::Site{row->key.site, row->key.python}));
  std::vector<Event> events{event};
  events.front().become(trace::EventKind::enter, enter);
  if (code == 0 && communicator) note_messages(call, *communicator, event, exit_ns, events);
  if (code == 0 && call.kind() == CallKind::start) note_starts(call, event, events);
  if (code == 0 && completes(call))
    for (Event ended : trace_.after_completion(call)) {
      ended.at_ns = exit_ns, ended.thread = event.thread;
      events.push_back(ended);
    }
  event.at_ns = exit_ns;
  if (call.kind() == CallKind::test && events.size() == 1) {
    ThreadRecord::Polls& polls = mine.polls;
    ++polls.calls, polls.ns += exit_ns - entry_ns;
    polls.since_leave.processor_ns += enter.since_leave.processor_ns;
    polls.since_leave.recorder_ns += enter.since_leave.recorder_ns;
    polls.enter = events.front(), polls.leave = event;
  } else {
    add_polls(mine);
    events.push_back(event);
    trace_.add(events);
  }
  if (notes_processor_time_) mine.exit_processor_ns = processor_time_ns();
  mine.recorder_ns = Clock::now_ns() - exit_ns + 3 * clock_ns_; // and what the clock itself takes
}

// The recorder's own work comes after this: it is in no processor time of the program.
void Recorder::note_hooked() {
  ThreadRecord& mine = thread();
  mine.hooked_ns = Clock::now_ns();
  if (notes_processor_time_) mine.entry_processor_ns = processor_time_ns();
}

// Of a call that was entered at this time.
trace::Elapsed Recorder::elapsed(const ThreadRecord& mine, std::int64_t entry_ns) const {
  trace::Elapsed since{mine.recorder_ns + std::max<std::int64_t>(0, entry_ns - mine.hooked_ns)};
  if (notes_processor_time_) // at least 1: 0 stands for unknown
    since.processor_ns = std::max<std::int64_t>(1, mine.entry_processor_ns - mine.exit_processor_ns);
  return since;
}

// As one call that took as long as all of them, at the end of the last one: all other time is the program's own.
void Recorder::add_polls(ThreadRecord& mine) {
  if (mine.polls.calls == 0) return;
  ThreadRecord::Polls polls = std::exchange(mine.polls, {});
  if (polls.calls > 1) polls.enter.at_ns = polls.leave.at_ns - polls.ns;
  polls.enter.enter().since_leave = polls.since_leave;
  trace_.add({polls.enter, polls.leave});
}

void Recorder::trace_region(trace::EventKind kind, const std::string& name) {
  if (!trace_) return;
  ThreadRecord& mine = thread();
  const CountingFlag::Scope counting(mine.counting, over_);
  if (!counting) return;
  add_polls(mine);
  Event event(Clock::now_ns(), kind, trace::RegionEvent{static_cast<std::uint32_t>(trace_.number_of(name))});
  event.thread = mine.number;
  trace_.add({event});
}

void Recorder::note_starts(const HookedCall& call, const Event& entry, std::vector<Event>& events) {
  const bool several = call.has(Role::requests);
  const std::int64_t n = several ? call.integer(Role::request_count) : 1;
  for (std::int64_t i = 0; i < n; ++i)
    if (auto event = trace_.start(call.handle(several ? Role::requests : Role::request, i))) {
      event->at_ns = entry.at_ns, event->thread = entry.thread;
      events.push_back(*event);
    }
}

// `event`: with the call and its time of entry.
void Recorder::note_messages(const HookedCall& call, const RecordedCommunicator& communicator, Event event,
                             std::int64_t exit_ns, std::vector<Event>& events) {
  const bool persistent =
      call.kind() == CallKind::persistent_point_to_point || call.kind() == CallKind::persistent_collective;
  const bool blocking = is_blocking_collective(call) || call.kind() == CallKind::point_to_point;
  const auto number = static_cast<std::uint32_t>(call.notes[kind_number]);
  const auto begin = [&](trace::EventKind kind, const auto& what, TraceBuffer::InWorld in_world = {}) {
    event.become(kind, what);
    if (persistent) return trace_.keep(call.handle_at(Role::request), event, std::move(in_world));
    trace_.begin(call.handle_at(Role::request), event, std::move(in_world));
    events.push_back(event);
  };
  const auto add = [&](trace::EventKind kind, const auto& what, std::int64_t at_ns) {
    event.become(kind, what);
    events.push_back(event);
    events.back().at_ns = at_ns;
  };
  const std::int64_t entry_ns = event.at_ns;
  if (traits_of(call.name).is_collective) {
    trace::CollectiveEvent what{call_traffic_.of(call, communicator.rank_of_root()).bytes};
    if (call.has(Role::root)) what.root = static_cast<std::int32_t>(call.integer(Role::root));
    what.communicator = number;
    what.parts = trace_.parts(call_traffic_.parts_of(call));
    what.row = static_cast<std::uint8_t>(mpi_hooks::collective_of(call.name).row->index);
    return blocking ? add(trace::EventKind::collective, what, exit_ns)
                    : begin(trace::EventKind::start_collective, what);
  }
  if (!blocking && !persistent && call.kind() != CallKind::nonblocking_point_to_point) return;
  const auto in_world = [&](int rank) { return rank < 0 ? -1 : communicators_.world_rank(communicator, rank); };
  if (call.has(Role::destination)) {
    trace::MessageEvent what{call_traffic_.of(call, communicator.rank_of_root()).bytes,
                             in_world(static_cast<int>(call.integer(Role::destination))),
                             static_cast<std::int32_t>(call.integer(Role::send_tag)), number};
    if (what.peer >= 0)
      blocking ? add(trace::EventKind::send, what, entry_ns) : begin(trace::EventKind::start_send, what);
  } else if (call.has(Role::source) && call.integer(Role::source) == library_.constants.proc_null) {
    return; // MPICH's MPI_Waitall tells rank 0 as the source
  } else if (!blocking && call.has(Role::request)) {
    begin(trace::EventKind::start_receive, trace::MessageEvent{.communicator = number},
          [this, handle = communicator.handle](int source) {
            const RecordedCommunicator* const c = source < 0 ? nullptr : communicators_.of(handle);
            return c ? communicators_.world_rank(*c, source) : -1;
          });
  }
  if (!blocking || !traits_of(call.name).receives_with_status) return;
  const auto& status = *static_cast<const mpi::StatusWords*>(call.pointer(Role::status));
  const TraceBuffer::Ended ended = trace_.ended(status);
  const trace::MessageEvent what{ended.bytes, in_world(ended.source), ended.tag, number};
  if (what.peer >= 0) add(trace::EventKind::receive, what, exit_ns);
}

} // namespace kumihimo::record
