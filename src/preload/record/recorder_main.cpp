// The hooks of the recorder, the preload library of `kumihimo record`.
#include "mpi_hooks/hooks.hpp"
#include "mpi_hooks/preload_check.hpp"
#include "record/recorder.hpp"
#include "thread_samples/started_threads.hpp"

#include <dlfcn.h>

namespace kumihimo::mpi_hooks {

using record::Recorder;

// Calls that set or delete attributes are hooked for the calls within them only, and not recorded.
[[gnu::hot]] void before(HookedCall& call) {
  const CallKind kind = record::traits_of(call.name).kind;
  if (kind == CallKind::attribute) return;
  if (kind == CallKind::environment && begins_mpi(call))
    PreloadCheck::enter(record::object_name), Recorder::note_mpi_init_entered();
  Recorder* const recorder = Recorder::current();
  if (!recorder || recorder->before(call)) call.notes[Recorder::begun] = static_cast<Word>(record::Clock::now_ns());
}

[[gnu::hot]] void after(const HookedCall& call, int code) {
  if (call.notes[Recorder::begun] == 0) { // not timed
    Recorder* const recorder = Recorder::current();
    if (recorder && call.notes[Recorder::at_site]) recorder->after_untimed(call, code);
    return;
  }
  const std::int64_t now_ns = record::Clock::now_ns();
  if (code == 0 && begins_mpi(call)) Recorder::make();
  if (Recorder* const recorder = Recorder::current()) recorder->after(call, code, now_ns);
}

} // namespace kumihimo::mpi_hooks

// The functions of kumihimo.h.
extern "C" void kumihimo_region_begin_at(const char* name, const char* expectation, const char* file, int line) {
  if (auto* const recorder = kumihimo::record::Recorder::current())
    recorder->begin_region(name, expectation, {.file = file, .line = line});
}
// Of programs that were compiled with an earlier header.
extern "C" void kumihimo_region_begin(const char* name, const char* expectation) {
  const auto address = reinterpret_cast<std::uintptr_t>(__builtin_return_address(0));
  if (auto* const recorder = kumihimo::record::Recorder::current())
    recorder->begin_region(name, expectation, {.address = address});
}
extern "C" void kumihimo_region_end(const char* name) {
  if (auto* const recorder = kumihimo::record::Recorder::current()) recorder->end_region(name);
}

// Hooked to know which library starts a thread.
extern "C" int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*start)(void*),
                              void* argument) {
  using kumihimo::thread_samples::CreateThread;
  static const auto create = reinterpret_cast<CreateThread>(dlsym(RTLD_NEXT, "pthread_create"));
  return kumihimo::thread_samples::create_noted(create, thread, attributes, start, argument);
}

[[gnu::destructor]] static void at_exit() { kumihimo::record::Recorder::at_exit(); }
