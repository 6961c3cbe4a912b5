// The calls that may be taken over, as C makes them. Each answers MPI's code; nothing means that the MPI library has
// the call, unchanged: it has been counted. Arguments are as MPI has them; a count is wide enough for the large ones
// too.
#pragma once

#include "caught/call.hpp"
#include "execute/mpi/abi.hpp"
#include "interpose/nonblocking.hpp"
#include "schedule/collective.hpp"

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

std::optional<int> run_call(CollectiveKind kind, const Call& call);
std::optional<int> start_call(CollectiveKind kind, Call call, mpi::Handle& request); // non-blocking

class Communicator;
class Session;
// A plan's run, after what is under way on its communicator.
Status run_plan(Session& session, Communicator& communicator, mpi::Handle handle, plan::Plan& plan,
                const execute::Buffers& buffers);

// A collective that is none of ours.
void count_other(caught::Name name);

// In a call in which the ranks of the communicator may wait for each other.
void meet(mpi::Handle communicator);
// The non-blocking collectives, where any of ours is not complete; else null.
Nonblocking* under_way();

// Before the program frees a communicator, and before it ends MPI.
void before_comm_free(mpi::Handle communicator);
void before_finalize();

// After MPI was initialised, perhaps: a time limit holds from here on.
void begin_watch();

} // namespace kumihimo::interpose
