// Whether the marked call of a thread is still on its stack. Programs may leave an MPI call by longjmp, from a function
// that the library calls (an error handler): no destructor runs, and the mark stays.
#include "mpi_hooks/hooks.hpp"

#include <unwind.h>

namespace kumihimo::mpi_hooks {
namespace {

// A search up the stack for the frame that was entered there.
struct FrameSearch {
  std::uintptr_t entered, returns_to;
  enum class Found : std::uint8_t { nothing, it, another } found = Found::nothing;
};

// One step of the unwinder. It shows the address at which a frame goes on, and where the frame that it called begins.
_Unwind_Reason_Code step(_Unwind_Context* context, void* state) {
  FrameSearch& way = *static_cast<FrameSearch*>(state);
  const std::uintptr_t entered = _Unwind_GetCFA(context);
  if (entered < way.entered) return _URC_NO_REASON;
  const bool is_it = entered == way.entered && _Unwind_GetIP(context) == way.returns_to;
  way.found = is_it ? FrameSearch::Found::it : FrameSearch::Found::another;
  return _URC_END_OF_STACK;
}

} // namespace

// If the stack cannot be searched (another stack, frames without tables), the mark is believed.
bool Nesting::is_gone() {
  FrameSearch way{reinterpret_cast<std::uintptr_t>(entered_), reinterpret_cast<std::uintptr_t>(returns_to_)};
  _Unwind_Backtrace(&step, &way);
  return way.found == FrameSearch::Found::another;
}

} // namespace kumihimo::mpi_hooks
