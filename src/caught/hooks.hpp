// What an object of ours does with the calls that it catches: it defines these. A call that passes through several
// names of ours (Fortran's reach C's, and libraries call themselves) is seen once, by the outermost. All names are
// weak: an object that has a definition of its own for one of them leaves that one out.
#pragma once

#include "caught/call.hpp"

#include <optional>
#include <utility>

namespace kumihimo::caught {

// The code of a call that is done here, in place of the next object or the library: then nothing else is asked. An
// object that does none defines no answer().
std::optional<int> answer(Call& call);

// A call from within another one that is caught: a communicator's end, in a function of the program's for an attribute.
// Nothing else is asked of it.
void nested_end(Call& call, Name outermost);

// Before the call goes on to the next object or the library; and after it, with MPI's code (0 where Fortran asked for
// none). On any thread.
void before(Call& call);
void after(const Call& call, int code);

// One guard a thread.
class Outermost {
 public:
  explicit Outermost(Name name) : mine_(!inside_) {
    if (mine_) inside_ = true, outer_ = name;
  }
  ~Outermost() {
    if (mine_) inside_ = false;
  }
  Outermost(const Outermost&) = delete;
  Outermost& operator=(const Outermost&) = delete;
  explicit operator bool() const { return mine_; }
  static Name outer() { return outer_; } // the call that this thread is in

 private:
  static constinit thread_local bool inside_;
  static constinit thread_local Name outer_;
  bool mine_;
};

// Where a call by a name of Fortran returns to, which is caught by C's name that it reaches: that returns to the
// library's binding. The first call by C's name takes it, unless there is none.
class HandedOn {
 public:
  explicit HandedOn(const void* site) { site_ = site; }
  ~HandedOn() { site_ = nullptr; }
  HandedOn(const HandedOn&) = delete;
  HandedOn& operator=(const HandedOn&) = delete;
  static const void* site_or(const void* own) {
    if (!site_) [[likely]]
      return own;
    return std::exchange(site_, nullptr);
  }

 private:
  static constinit thread_local const void* site_;
};

} // namespace kumihimo::caught
