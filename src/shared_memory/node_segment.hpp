// The shared memory of one node: a file in memory with a channel for each ordered pair of its ranks. Room for all of it
// is set aside when it is made; a process has those pages of it that its messages touch.
#pragma once

#include "base/result.hpp"
#include "mpi/library.hpp"
#include "shared_memory/channel.hpp"
#include "shared_memory/shared_file.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::shared_memory {

// Slots and their size for a node of `ranks` ranks, so that all channels together fit in `limit_bytes`; no slots if
// even the smallest ring does not fit. Rings shrink as well where one rank's would be more than `ample_bytes_per_rank`,
// which counts twice in what a process takes: it writes into as much of others'. Four ranks on two processors lose 5 to
// 15 % of vectors from 8 MiB on by it, and nothing of shorter ones.
inline constexpr std::int64_t ample_bytes_per_rank = 2 << 20;
RingShape ring_shape_for(std::int32_t ranks, std::int64_t limit_bytes);

// What shared memory may take on this machine, now: half of what is free in /dev/shm.
std::int64_t shared_memory_limit_bytes();

// The same in all processes of one running system and in no other one's, by its name and that of its last boot; 0 where
// it does not say. Whether two processes that have it alike see each other's memory is found when they try to.
inline constexpr std::int64_t no_machine_number = 0;
std::int64_t machine_number();

class NodeSegment {
 public:
  // Collective over `node`, a communicator of ranks that share memory, of which its channels may take `limit_bytes`.
  // Success without memory, on all ranks alike (see exists()), means that there is too little or that a rank could not
  // map it, with the sentence in note().
  // `reads`, alike on all ranks: whether they find out if they may read each other's memory.
  static Result<std::unique_ptr<NodeSegment>> create(const mpi::Library& library, mpi::Handle node,
                                                     std::int64_t limit_bytes, bool reads = false);
  ~NodeSegment(); // this process's mapping; what others map stays theirs
  NodeSegment(const NodeSegment&) = delete;
  NodeSegment& operator=(const NodeSegment&) = delete;

  bool exists() const { return memory_ != nullptr; }
  const std::string& note() const { return note_; }
  const RingShape& shape() const { return shape_; }
  // Whether every rank of the node may read every other's memory, which are these processes to it; by rank.
  bool is_readable() const { return !processes_.empty(); }
  std::int64_t process(std::int32_t rank) const { return processes_[static_cast<std::size_t>(rank)]; }
  // The channel from one rank of the node to another.
  ChannelMemory channel(std::int32_t from, std::int32_t to) const;

 private:
  explicit NodeSegment(const mpi::Library& library) : library_(library) {}
  Status allocate(mpi::Handle node, std::int32_t rank, std::int32_t ranks);
  Result<SharedFile> meet_in_file(mpi::Handle node, std::int32_t rank);
  Status map(const Result<SharedFile>& file);
  Status take(const SharedFile& file, std::int32_t rank, std::int32_t ranks);
  void unmap();
  // Whether any rank failed; the sentence of this one's failure, or that of another, becomes the note.
  Result<bool> any_failed(mpi::Handle node, const Status& mine);
  Status find_processes(mpi::Handle node, std::int32_t ranks);

  const mpi::Library& library_;
  RingShape shape_;
  std::string note_;
  std::byte* memory_ = nullptr;                 // of all ranks, one part behind the other
  std::int64_t bytes_per_rank_ = 0, bytes_ = 0; // whole pages, so that each rank's are its own; and of all
  std::vector<std::int64_t> processes_;
};

} // namespace kumihimo::shared_memory
