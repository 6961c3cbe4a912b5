// The hooks of the interposer: collectives run by plans or are forwarded, waits make non-blocking collectives progress,
// and resources end with communicators and with MPI.
#include "interpose/call_counters.hpp"
#include "interpose/calls.hpp"
#include "interpose/device_memory.hpp"
#include "interpose/error_handlers.hpp"
#include "interpose/interposer.hpp"
#include "interpose/memory_reserve.hpp"
#include "interpose/reorder.hpp"
#include "interpose/watchdog.hpp"
#include "mpi_hooks/hooks.hpp"
#include "mpi_hooks/next_function.hpp"
#include "mpi_hooks/preload_check.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <new>
#include <string_view>

namespace kumihimo::mpi_hooks {
namespace {

using namespace interpose;

// The arguments as C passes them, special addresses included. An argument for both sides is in both.
interpose::BufferArguments arguments_of(const HookedCall& call) {
  const auto number = [&](Role one, Role both) {
    return call.has(one) ? call.integer(one) : call.has(both) ? call.integer(both) : 0;
  };
  const auto handle = [&](Role one, Role both) {
    return call.has(one) ? call.handle(one) : call.has(both) ? call.handle(both) : 0;
  };
  const auto buffer = [&](Role one) {
    return call.has(one) ? call.buffer(one) : call.has(Role::buffer) ? call.buffer(Role::buffer) : nullptr;
  };
  interpose::BufferArguments c;
  c.send = {buffer(Role::send_buffer), number(Role::send_count, Role::count), handle(Role::send_type, Role::type)};
  c.receive = {buffer(Role::receive_buffer), number(Role::receive_count, Role::count),
               handle(Role::receive_type, Role::type)};
  const auto numbers = [&](Role role) -> RankNumbers {
    if (!call.has(role)) return {};
    return {call.pointer(role), is_always_wide(role) || (call.large && is_wide_if_large(role))};
  };
  c.send.counts = numbers(Role::send_counts), c.receive.counts = numbers(Role::receive_counts);
  c.send.displacements = numbers(Role::send_displacements);
  c.receive.displacements = numbers(Role::receive_displacements);
  if (call.has(Role::send_types)) {
    c.send.types = {&call, Role::send_types}, c.receive.types = {&call, Role::receive_types};
    if (call.has(Role::send_addresses)) {
      c.send.displacements = numbers(Role::send_addresses);
      c.receive.displacements = numbers(Role::receive_addresses);
    }
  }
  c.local_counts = collective_of(call.name).local_counts;
  c.counts = numbers(Role::counts);
  c.operation = handle(Role::operation, Role::operation);
  c.root = static_cast<int>(number(Role::root, Role::root));
  c.communicator = call.handle(Role::communicator);
  return c;
}

std::optional<int> collective(HookedCall& call, CallForm form) {
  const CollectiveKind kind(*collective_of(call.name).row);
  if (form == CallForm::blocking) return run_call(kind, arguments_of(call), call.fast_path);
  Handle request = 0;
  const std::optional<int> code = start_call(kind, arguments_of(call), request, call.fast_path);
  if (code == 0) call.give(Role::request, request);
  return code;
}

// The names of waits and of their tests, in all spellings.
#define KUMIHIMO_SPELLED(p, P, of, lower, upper)                                                                       \
  P "MPI_" of, p "mpi_" lower, p "mpi_" lower "_", p "mpi_" lower "__", P "MPI_" upper, p "mpi_" lower "_f08_",        \
      p "mpi_" lower "_f08ts_"
#define KUMIHIMO_BOTH(...) KUMIHIMO_SPELLED("", "", __VA_ARGS__), KUMIHIMO_SPELLED("p", "P", __VA_ARGS__)
constexpr std::array waits{KUMIHIMO_BOTH("Waitany", "waitany", "WAITANY"),
                           KUMIHIMO_BOTH("Waitsome", "waitsome", "WAITSOME")};
constexpr std::array tests{KUMIHIMO_BOTH("Testany", "testany", "TESTANY"),
                           KUMIHIMO_BOTH("Testsome", "testsome", "TESTSOME")};
#undef KUMIHIMO_BOTH
#undef KUMIHIMO_SPELLED

// The test that belongs to a wait, in the same spelling.
void* test_of(const HookedCall& call) {
  static const auto found = [] {
    std::array<void*, tests.size()> all{};
    std::transform(tests.begin(), tests.end(), all.begin(), &next_of);
    return all;
  }();
  const auto at = std::find(waits.begin(), waits.end(), std::string_view(call.exported)) - waits.begin();
  return found[static_cast<std::size_t>(at)];
}

// A wait for requests of which some are ours.
struct RequestWait {
  Nonblocking& all;
  const Requests& requests;
};

// Calls the test in place of the wait, for requests of which some are ours. In Fortran the error code comes last.
template <class... Words>
int ask(const HookedCall& call, const RequestWait& waiting, void* test, Words... words) {
  std::optional<SilentErrorHandlers> silent;
  if (waiting.all.has_failed(waiting.requests)) silent.emplace(waiting.all.library());
  if (call.language == Language::c) return reinterpret_cast<int (*)(Words...)>(test)(words...);
  int error = 0;
  reinterpret_cast<void (*)(Words..., int*)>(test)(words..., &error);
  return error;
}

int wait_any(const HookedCall& call, const RequestWait& waiting) {
  void* const test = test_of(call);
  const Word* const w = call.words(); // count, requests, index, status
  for (int done = 0;; waiting.all.turn())
    if (const int code = ask(call, waiting, test, w[0], w[1], w[2], &done, w[3]); code != 0 || done) return code;
}

int wait_some(const HookedCall& call, const RequestWait& waiting) {
  void* const test = test_of(call);
  const Word* const w = call.words(); // count, requests, number, indices, statuses
  for (;; waiting.all.turn())
    if (const int code = ask(call, waiting, test, w[0], w[1], w[2], w[3], w[4]);
        code != 0 || *static_cast<const int*>(call.pointer(Role::completed_count)) != 0)
      return code;
}

// Silences the error handlers for a call that goes on to the library with a failed request.
void expect_failure(HookedCall& call, Nonblocking& under_way, const Requests& requests) {
  if (under_way.has_failed(requests))
    call.notes[0] = reinterpret_cast<Word>(new (std::nothrow) SilentErrorHandlers(under_way.library()));
}

std::optional<int> wait(HookedCall& call, Nonblocking& under_way) {
  const Requests requests(call);
  const bool for_all = call.name == Name::Wait || call.name == Name::Waitall;
  if (for_all) under_way.finish(requests);
  if (for_all || !under_way.holds_any(requests)) return expect_failure(call, under_way, requests), std::nullopt;
  const RequestWait waiting{under_way, requests};
  return call.name == Name::Waitany ? wait_any(call, waiting) : wait_some(call, waiting);
}

void make_progress(HookedCall& call, Nonblocking& under_way) {
  const Requests requests(call);
  under_way.make_progress(requests);
  expect_failure(call, under_way, requests);
}

void end_expecting(const HookedCall& call) { delete reinterpret_cast<SilentErrorHandlers*>(call.notes[0]); }

std::optional<int> handle_by_kind(HookedCall& call) {
  switch (call.kind()) {
  case CallKind::collective: return collective(call, CallForm::blocking);
  case CallKind::nonblocking_collective: return collective(call, CallForm::nonblocking);
  case CallKind::persistent_collective: count_other(call.name); return std::nullopt;
  case CallKind::window: expect_one_sided(); return std::nullopt;
  case CallKind::wait:
    if (Nonblocking* const moving = under_way()) return wait(call, *moving);
    return std::nullopt;
  case CallKind::test:
    if (Nonblocking* const moving = under_way()) make_progress(call, *moving);
    return std::nullopt;
  case CallKind::communicator: before_reorder(call); return std::nullopt;
  case CallKind::communicator_end: before_comm_free(call.handle_at(Role::ended_communicator)); return std::nullopt;
  default:
    if (call.name == Name::Finalize) before_finalize();
    if (call.name == Name::Abort) before_abort();
    return std::nullopt;
  }
}

void before_environment(const HookedCall& call) {
  begin_watch();
  if (!MemoryReserve::is_there()) return; // then this process is not here for the others, who forward all calls
  if (begins_mpi(call)) PreloadCheck::enter(interpose::object_name);
}

void after_environment(const HookedCall& call, int code) {
  if (begins_mpi(call)) PreloadCheck::leave();
  if (code == 0 && begins_mpi(call)) after_init();
  begin_watch();
}

} // namespace

std::optional<int> handle_call(HookedCall& call) {
  const auto nothing = [] { return false; };
  if (call.kind() == CallKind::environment) attempted([&] { return before_environment(call), true; }, nothing);
  Watchdog::enter(call);
  const std::optional<int> code = handle_by_kind(call);
  if (code) Watchdog::leave();
  return code;
}

// A communicator freed in the program's function for an attribute. If that function runs in a call that frees or
// changes attributes, all ranks are there; in other calls they may not be.
void nested(HookedCall& call, Name nesting) {
  if (call.name == Name::Abort) return before_abort();
  const CallKind kind = describe(nesting).kind;
  if (kind == CallKind::communicator_end || kind == CallKind::window_end || kind == CallKind::attribute)
    before_comm_free(call.handle_at(Role::ended_communicator));
}

void on_exception(const HookedCall& call) {
  end_expecting(call);
  Watchdog::leave();
}

void before(HookedCall&) {}

void after(const HookedCall& call, int code) {
  end_expecting(call);
  const auto nothing = [] { return false; };
  if (call.kind() == CallKind::environment) attempted([&] { return after_environment(call, code), true; }, nothing);
  const bool is_begun = call.name == Name::Comm_idup || call.name == Name::Comm_idup_with_info; // and not there yet
  if (call.kind() == CallKind::communicator && code == 0 && !is_begun) {
    after_reorder(call);
    after_comm_made(call.handle_at(Role::new_communicator));
  }
  Watchdog::leave();
}

} // namespace kumihimo::mpi_hooks

// Hooked because any library may load a GPU driver. The dynamic linker uses the RUNPATH of its caller, known by the
// return address. So the call is the last statement, which the compiler turns into a jump.
extern "C" void* dlopen(const char* file, int mode) noexcept {
  using Open = void* (*)(const char*, int) noexcept;
  static std::atomic<Open> next = nullptr;
  if (!next) next = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  kumihimo::interpose::DeviceMemory::expect_driver();
  return next.load(std::memory_order_relaxed)(file, mode);
}
