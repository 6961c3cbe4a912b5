// The functions that a preload library defines for the calls that it hooks. A call that passes through several hooked
// names (Fortran's call C's, and libraries call themselves) is seen once, by the outermost. All hooked names are
// weak, so a preload library may define one of them itself.
#pragma once

#include "mpi_hooks/call.hpp"

#include <optional>
#include <utility>

namespace kumihimo::mpi_hooks {

// The code of a call that ends here, without the next object or the library; then no other hook is called. Optional.
std::optional<int> handle_call(HookedCall& call);

// A call from within another hooked one, in the program's function for an attribute or an operation: the end of a
// communicator, or MPI_Abort. No other hook is called. Optional.
void nested(HookedCall& call, Name nesting);

// Called on any thread before the call goes on to the next object or the library, and after it, with MPI's error code
// (0 if Fortran asked for none).
void before(HookedCall& call);
void after(const HookedCall& call, int code);

// In place of after() if a C++ exception leaves the call, from a function of the program that the library called. (A
// longjmp cannot be seen.) Optional.
void on_exception(const HookedCall& call);

// Guards a hooked call against calls within it; one guard for each thread. Its mark is the guarding function's frame
// address and return address. A call that is entered at this frame or an outer one finds the mark of a call that has
// ended; others search the stack for it.
class Nesting {
 public:
  [[gnu::always_inline]] explicit Nesting(Name name)
      : Nesting(name, __builtin_dwarf_cfa(), __builtin_return_address(0)) {}
  ~Nesting() {
    if (mine_) entered_ = nullptr;
  }
  Nesting(const Nesting&) = delete;
  Nesting& operator=(const Nesting&) = delete;
  explicit operator bool() const { return mine_; }
  static Name outer() { return outer_; } // the call that this thread is in
  // Whether this thread is in a hooked wait or test.
  static bool is_in_completion() {
    const CallKind kind = describe(outer_).kind;
    return entered_ && (kind == CallKind::wait || kind == CallKind::test) && !is_gone();
  }

 private:
  [[gnu::always_inline]] Nesting(Name name, const void* entered, const void* returns_to)
      : mine_(!entered_ || entered >= entered_ || is_gone()) {
    if (mine_) entered_ = entered, returns_to_ = returns_to, outer_ = name;
  }
  static bool is_gone(); // whether the marked call has ended
  static constinit thread_local const void *entered_, *returns_to_;
  static constinit thread_local Name outer_;
  bool mine_;
};

// Calls on_exception() if an exception leaves a call.
class ExceptionGuard {
 public:
  explicit ExceptionGuard(const HookedCall& call) : call_(&call) {}
  ~ExceptionGuard() {
    if (call_) [[unlikely]]
      on_exception(*call_);
  }
  ExceptionGuard(const ExceptionGuard&) = delete;
  ExceptionGuard& operator=(const ExceptionGuard&) = delete;
  void returned() { call_ = nullptr; }

 private:
  const HookedCall* call_;
};

// The return address of a call by a Fortran name that is hooked by the C name that it calls, which itself returns to
// the library's binding. The first call by a C name takes it, unless there is none.
class FortranReturnAddress {
 public:
  explicit FortranReturnAddress(const void* site) { site_ = site; }
  ~FortranReturnAddress() { site_ = nullptr; }
  FortranReturnAddress(const FortranReturnAddress&) = delete;
  FortranReturnAddress& operator=(const FortranReturnAddress&) = delete;
  static const void* site_or(const void* own) {
    if (!site_) [[likely]]
      return own;
    return std::exchange(site_, nullptr);
  }

 private:
  static constinit thread_local const void* site_;
};

} // namespace kumihimo::mpi_hooks
