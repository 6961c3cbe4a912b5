// The shared memory of one node: a file in memory with a channel for each ordered pair of its ranks. All of it is
// allocated when it is made. A process maps it, and uses the pages that its messages touch.
#pragma once

#include "base/result.hpp"
#include "mpi/library.hpp"
#include "shared_memory/channel_layout.hpp"
#include "shared_memory/machine_number.hpp"
#include "shared_memory/shared_file.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::shared_memory {

// The rings of a node with `ranks` ranks: as long as all channels fit in `limit_bytes`; no slots if even the shortest
// do not fit. Rings also shrink until those of one rank fit in `ample_bytes_per_rank`. A process uses twice that,
// because it writes into as much of the other ranks' rings. Four ranks on two processors lose 5 to 15 % by this for
// vectors of 8 MiB and more, and nothing for shorter ones.
inline constexpr std::int64_t ample_bytes_per_rank = 2 << 20;
RingShape ring_shape_for(std::int32_t ranks, std::int64_t limit_bytes);

// Half of what is free in /dev/shm now.
std::int64_t shared_memory_limit_bytes();

class NodeSegment {
 public:
  // Collective over `node`, a communicator of ranks that share memory. `limit_bytes`: for all channels together. If
  // there is too little memory, or a rank cannot map it, no rank gets any: exists() is false and note() says why.
  // `reads`, the same on all ranks: find out whether they can read each other's memory.
  static Result<std::unique_ptr<NodeSegment>> create(const mpi::Library& library, mpi::Handle node,
                                                     std::int64_t limit_bytes, bool reads = false);
  ~NodeSegment(); // unmaps it in this process only
  NodeSegment(const NodeSegment&) = delete;
  NodeSegment& operator=(const NodeSegment&) = delete;

  bool exists() const { return memory_ != nullptr; }
  const std::string& note() const { return note_; }
  const RingShape& shape() const { return shape_; }
  // Whether every rank of the node can read every other rank's memory. process(rank) is a rank's process id.
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
  // Whether any rank failed. The note gets this rank's error, or says that another rank failed.
  Result<bool> any_failed(mpi::Handle node, const Status& mine);
  Status find_processes(mpi::Handle node, std::int32_t ranks);

  const mpi::Library& library_;
  RingShape shape_;
  std::string note_;
  std::byte* memory_ = nullptr;                 // one part for each rank
  std::int64_t bytes_per_rank_ = 0, bytes_ = 0; // whole pages, so that ranks share none; and in all
  std::vector<std::int64_t> processes_;
};

} // namespace kumihimo::shared_memory
