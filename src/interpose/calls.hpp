// The calls that may be taken over, as C makes them. Each answers MPI's code; nothing means that the MPI library has
// the call, unchanged: it has been counted. Arguments are as MPI has them; a count is wide enough for the large ones
// too.
#pragma once

#include "execute/mpi/abi.hpp"

#include <cstdint>
#include <optional>

namespace kumihimo::interpose {

struct Call {
  const void* send = nullptr; // bcast: unused
  void* receive = nullptr;    // bcast: the buffer
  std::int64_t count = 0;
  mpi::Handle type = 0, operation = 0;
  int root = 0;
  mpi::Handle communicator = 0;
};

std::optional<int> take_allreduce(Call call);
std::optional<int> take_reduce(Call call);
std::optional<int> take_bcast(Call call);

// Before the program frees a communicator, and before it ends MPI.
void before_comm_free(mpi::Handle communicator);
void before_comm_free(const mpi::Handle* communicator); // where C keeps it
void before_finalize();

// Names that MPI libraries call themselves, and names by which one call passes through two of ours (Fortran's and C's),
// are caught once: by the outermost.
class Outermost {
 public:
  Outermost() : mine_(!inside_) { inside_ = true; }
  ~Outermost() {
    if (mine_) inside_ = false;
  }
  Outermost(const Outermost&) = delete;
  Outermost& operator=(const Outermost&) = delete;
  explicit operator bool() const { return mine_; }

 private:
  static thread_local bool inside_;
  bool mine_;
};

} // namespace kumihimo::interpose
