// Whether the call that a thread is in, by its mark, is still there. Programs leave a call of MPI by longjmp out of a
// function of theirs that the library calls (an error handler): that runs no destructor, and the mark stays.
#include "mpi_hooks/hooks.hpp"

#include <unwind.h>

namespace kumihimo::mpi_hooks {
namespace {

// The way up the stack, as far as a frame that was entered there, and past it.
struct FrameSearch {
  std::uintptr_t entered, returns_to;
  enum class Found : std::uint8_t { nothing, it, another } found = Found::nothing;
};

// What the unwinder shows of a frame: the address that it goes on at, and where the frame that it called was entered.
_Unwind_Reason_Code step(_Unwind_Context* context, void* state) {
  FrameSearch& way = *static_cast<FrameSearch*>(state);
  const std::uintptr_t entered = _Unwind_GetCFA(context);
  if (entered < way.entered) return _URC_NO_REASON;
  const bool is_it = entered == way.entered && _Unwind_GetIP(context) == way.returns_to;
  way.found = is_it ? FrameSearch::Found::it : FrameSearch::Found::another;
  return _URC_END_OF_STACK;
}

} // namespace

// Where the way cannot be told (another stack, frames without tables), the mark is believed.
bool Nesting::is_gone() {
  FrameSearch way{reinterpret_cast<std::uintptr_t>(entered_), reinterpret_cast<std::uintptr_t>(returns_to_)};
  _Unwind_Backtrace(&step, &way);
  return way.found == FrameSearch::Found::another;
}

} // namespace kumihimo::mpi_hooks
