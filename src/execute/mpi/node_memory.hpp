// The shared memory of one node: an MPI shared-memory window with a channel for each ordered pair of its ranks. Its
// pages are all taken when it is made: tmpfs gives them at the first touch alone, and one that it cannot give then is a
// SIGBUS in the middle of a program, not an error.
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
// even the smallest ring does not fit. Rings shrink as well where one rank's would be more than `ample_bytes_per_rank`,
// which counts twice in what a process takes: it writes into as much of others'. Four ranks on two processors lose 5 to
// 15 % of vectors from 8 MiB on by it, and nothing of shorter ones.
inline constexpr std::int64_t ample_bytes_per_rank = 2 << 20;
RingShape ring_shape_for(std::int32_t ranks, std::int64_t limit_bytes);

// What shared memory may take on this machine, now: half of what is free in /dev/shm, where MPI libraries put it.
std::int64_t shared_memory_limit_bytes();

class NodeMemory {
 public:
  // Collective over `node`, a communicator of ranks that share memory, of which its channels may take `limit_bytes`.
  // Success without memory, on all ranks alike (see exists()), means that there is too little or that a rank could not
  // map it, with the sentence in note().
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
  Status map(std::int32_t rank, std::int32_t ranks);
  // Whether any rank failed; the sentence of this one's failure, or that of another, becomes the note.
  Result<bool> any_failed(Handle node, const Status& mine);
  std::int64_t bytes_per_rank(std::int32_t ranks) const { return shape_.channel_bytes() * (ranks - 1); }

  const Library& library_;
  Handle window_ = 0;
  RingShape shape_;
  std::string note_;
  std::vector<std::byte*> bases_; // of each rank's part, aligned to a cache line
};

} // namespace kumihimo::mpi
