// The meaning of the arguments of MPI's collectives, by the rows of base/collectives.def: on which ranks a buffer is
// significant, and how many blocks it holds. Arguments that are not significant may have any value, so they are not
// read.
#pragma once

#include "mpi/library.hpp"
#include "mpi_hooks/call.hpp"
#include "schedule/collective.hpp"

#include <cstdint>

namespace kumihimo::interpose {

// One number for each rank, as the call passes them.
struct RankNumbers {
  const void* first = nullptr;
  bool wide = false;
  explicit operator bool() const { return first; }
  std::int64_t operator[](std::int64_t i) const {
    return wide ? static_cast<const std::int64_t*>(first)[i] : static_cast<const std::int32_t*>(first)[i];
  }
};

// One type for each block (alltoallw), as the call passes them.
struct BlockTypes {
  const mpi_hooks::HookedCall* call = nullptr;
  mpi_hooks::Role role = mpi_hooks::Role::other;
  explicit operator bool() const { return call; }
  mpi::Handle operator[](std::int64_t i) const { return call->handle(role, i); }
};

// The send or the receive side of a call: the length of a block, and the address of the first one. Or blocks of
// different lengths, with their displacements from the buffer.
struct BufferSide {
  void* buffer = nullptr;
  std::int64_t count = 0;
  mpi::Handle type = 0;
  RankNumbers counts = {}, displacements = {}; // in place of `count`
  BlockTypes types = {};                       // in place of `type`; then displacements are in bytes
};

// The arguments of a call as C passes them. A buffer, count or type of both sides is in both.
struct BufferArguments {
  BufferSide send, receive;
  RankNumbers counts;        // block lengths of a reduce_scatter, in place of a count
  bool local_counts = false; // each rank knows the lengths of its own blocks only, so no decision depends on lengths
  mpi::Handle operation = 0;
  int root = 0;
  mpi::Handle communicator = 0;

  // Whether lengths are in arrays, which the next call may find changed.
  bool has_counts() const { return local_counts || counts || send.counts || receive.counts; }
};

// The significant sides on one rank. Null: nothing is sent or received, or the call is in place.
struct RankBuffers {
  const BufferSide *sent = nullptr, *received = nullptr;
  bool in_place = false;            // the call passes MPI_IN_PLACE
  const BufferSide* both = nullptr; // in place: the side with the data

  // The side that tells the length of a block, if there is one.
  const BufferSide* length() const { return both ? both : received ? received : sent; }
};

inline RankBuffers view_of(CollectiveKind kind, const BufferArguments& call, bool is_root, const void* in_place) {
  const auto counts = [&](WhichRanks whose) {
    return whose == WhichRanks::all || (whose == WhichRanks::root && is_root);
  };
  // The one buffer of a broadcast is sent by the root and received by the others.
  const bool receives = counts(kind->output.whose) && !(kind->has_one_buffer() && is_root);
  RankBuffers view{counts(kind->input.whose) ? &call.send : nullptr, receives ? &call.receive : nullptr};
  if (!view.sent || !view.received || !kind->may_be_in_place()) return view;
  // In a scatter only the root can be in place, by its receive buffer.
  const bool by_receiver = kind->is_in_place_by_receiver();
  if ((by_receiver ? view.received : view.sent)->buffer != in_place) return view;
  view.in_place = true;
  view.both = by_receiver ? view.sent : view.received;
  view.sent = view.received = nullptr;
  return view;
}

} // namespace kumihimo::interpose
