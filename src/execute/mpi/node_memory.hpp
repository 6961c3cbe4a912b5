// The shared memory of one node: an MPI shared-memory window with a channel for each ordered pair of its ranks. Pages
// are touched when a channel is first used (only headers are cleared), so pairs that never talk cost address space.
#pragma once

#include "base/result.hpp"
#include "execute/mpi/abi.hpp"
#include "execute/mpi/channel.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::mpi {

// Slots and their size for a node of `ranks` ranks, so that all channels together fit in `limit_bytes`; no slots if
// even the smallest ring does not fit.
RingShape ring_shape_for(std::int32_t ranks, std::int64_t limit_bytes);

// What shared memory may take on this machine: half of what is free in /dev/shm, where MPI libraries put it.
std::int64_t shared_memory_limit_bytes();

class NodeMemory {
 public:
  // Collective over `node`, a communicator of ranks that share memory. Success without memory (see exists()) means
  // that there is too little, with the sentence in note().
  static Result<std::unique_ptr<NodeMemory>> create(const Library& library, Handle node, std::int64_t limit_bytes);
  ~NodeMemory(); // frees the window, collectively, unless MPI is finalized
  NodeMemory(const NodeMemory&) = delete;
  NodeMemory& operator=(const NodeMemory&) = delete;

  bool exists() const { return !bases_.empty(); }
  const std::string& note() const { return note_; }
  const RingShape& shape() const { return shape_; }
  // The channel from one rank of the node to another.
  ChannelMemory channel(std::int32_t from, std::int32_t to) const;

 private:
  explicit NodeMemory(const Library& library) : library_(library) {}
  Status allocate(Handle node, std::int32_t rank, std::int32_t ranks);
  std::int64_t bytes_per_rank(std::int32_t ranks) const { return shape_.channel_bytes() * (ranks - 1); }

  const Library& library_;
  Handle window_ = 0;
  RingShape shape_;
  std::string note_;
  std::vector<std::byte*> bases_; // of each rank's part, aligned to a cache line
};

} // namespace kumihimo::mpi
