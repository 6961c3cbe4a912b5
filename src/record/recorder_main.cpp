// The object that `kumihimo record` has loaded before a program's MPI library.
#include "caught/hooks.hpp"
#include "caught/roll_call.hpp"
#include "record/recorder.hpp"

namespace kumihimo::caught {

// Those that only set or end attributes are in the table for what runs within them, and are in no profile.
void before(Call& call) {
  if (call.kind() == Kind::attribute) return;
  if (begins_mpi(call)) RollCall::enter(record::object_name);
  if (record::Recorder* const recorder = record::Recorder::current()) recorder->before(call);
  call.notes[0] = static_cast<Word>(record::Clock::now_ns());
}

void after(const Call& call, int code) {
  if (call.kind() == Kind::attribute) return;
  const std::int64_t now_ns = record::Clock::now_ns();
  if (record::Recorder* const recorder = record::Recorder::current()) recorder->after(call, code, now_ns);
}

} // namespace kumihimo::caught

// Of kumihimo.h.
extern "C" void kumihimo_region_begin(const char* name, const char* expectation) {
  if (auto* const recorder = kumihimo::record::Recorder::current()) recorder->begin_region(name, expectation);
}
extern "C" void kumihimo_region_end(const char* name) {
  if (auto* const recorder = kumihimo::record::Recorder::current()) recorder->end_region(name);
}

[[gnu::destructor]] static void at_exit() { kumihimo::record::Recorder::at_exit(); }
