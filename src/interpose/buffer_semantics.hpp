// What the arguments of MPI's collectives mean, by the rows of base/collectives.def. On which
// ranks a buffer counts, how many blocks it holds, and so what this rank may look at at all: an argument that does not
// count here may be anything.
#pragma once

#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"
#include "schedule/collective.hpp"

#include <cstdint>

namespace kumihimo::interpose {

// One number for each rank, as the call has them.
struct Numbers {
  const void* first = nullptr;
  bool wide = false;
  explicit operator bool() const { return first; }
  std::int64_t operator[](std::int64_t i) const {
    return wide ? static_cast<const std::int64_t*>(first)[i] : static_cast<const std::int32_t*>(first)[i];
  }
};

// One type for each block (alltoallw), as the call has them.
struct BlockTypes {
  const mpi_hooks::Call* call = nullptr;
  mpi_hooks::Role role = mpi_hooks::Role::other;
  explicit operator bool() const { return call; }
  mpi::Handle operator[](std::int64_t i) const { return call->handle(role, i); }
};

// What is sent or received: elements of a block, and where the first block is. Or blocks of different lengths, each so
// many elements after the buffer's begin.
struct Side {
  void* buffer = nullptr;
  std::int64_t count = 0;
  mpi::Handle type = 0;
  Numbers counts = {}, displacements = {}; // in place of `count`
  BlockTypes types = {};                   // in place of `type`; then displacements are in bytes
};

// A call as C makes it. Where one buffer, count or type is both, both sides have it.
struct Call {
  Side send, receive;
  Numbers counts;            // of the blocks that a reduction is dealt out in, in place of a count
  bool local_counts = false; // of blocks whose lengths each rank knows of its own alone: what decides knows none
  mpi::Handle operation = 0;
  int root = 0;
  mpi::Handle communicator = 0;

  // Lengths that stand in memory, where the next call may find others.
  bool has_counts() const { return local_counts || counts || send.counts || receive.counts; }
};

// What of it counts on one rank. Null: nothing is sent, or received, or it is in place.
struct RankBuffers {
  const Side *sent = nullptr, *received = nullptr;
  bool in_place = false;      // said by the call
  const Side* both = nullptr; // where in place is said: where the data are

  // What tells the length of a block, if there is any.
  const Side* length() const { return both ? both : received ? received : sent; }
};

inline RankBuffers view_of(CollectiveKind kind, const Call& call, bool is_root, const void* in_place) {
  const auto counts = [&](Ranks whose) { return whose == Ranks::all || (whose == Ranks::root && is_root); };
  // The one buffer of a broadcast is sent by the root and received by the others.
  const bool receives = counts(kind->output.whose) && !(kind->has_one_buffer() && is_root);
  RankBuffers view{counts(kind->input.whose) ? &call.send : nullptr, receives ? &call.receive : nullptr};
  if (!view.sent || !view.received || !kind->may_be_in_place()) return view;
  // Said where it can be on all ranks: of a scatter the root's send buffer is the only one.
  const bool by_receiver = kind->is_in_place_by_receiver();
  if ((by_receiver ? view.received : view.sent)->buffer != in_place) return view;
  view.in_place = true;
  view.both = by_receiver ? view.sent : view.received;
  view.sent = view.received = nullptr;
  return view;
}

} // namespace kumihimo::interpose
