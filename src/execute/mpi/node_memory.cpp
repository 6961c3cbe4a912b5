#include "execute/mpi/node_memory.hpp"

#include <fmt/format.h>
#include <sys/statvfs.h>

#include <algorithm>

namespace kumihimo::mpi {
namespace {

// From the ring that measures best down to the smallest that still works at a useful speed.
constexpr RingShape ring_shapes[] = {{16, 65536}, {8, 65536}, {8, 16384}, {4, 16384}, {4, 4096}};

std::byte* align_to_line(std::byte* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return p + (-address & (cache_line_bytes - 1));
}

} // namespace

RingShape ring_shape_for(std::int32_t ranks, std::int64_t limit_bytes) {
  const std::int64_t pairs = static_cast<std::int64_t>(ranks) * (ranks - 1);
  for (const RingShape& shape : ring_shapes)
    if (shape.channel_bytes() <= limit_bytes / std::max<std::int64_t>(pairs, 1)) return shape;
  return {0, 0};
}

std::int64_t shared_memory_limit_bytes() {
  struct statvfs facts {};
  if (statvfs("/dev/shm", &facts) != 0) return 0;
  return static_cast<std::int64_t>(facts.f_bavail) * static_cast<std::int64_t>(facts.f_frsize) / 2;
}

Result<std::unique_ptr<NodeMemory>> NodeMemory::create(const Library& library, Handle node, std::int64_t limit_bytes) {
  int rank = 0, ranks = 0;
  library.call.Comm_rank(node, &rank);
  library.call.Comm_size(node, &ranks);
  std::unique_ptr<NodeMemory> memory(new NodeMemory(library));
  // All ranks must choose the same shape, whatever each of them sees.
  std::int64_t smallest = limit_bytes;
  const int code = library.call.Allreduce(&limit_bytes, &smallest, 1, library.datatype(DataType::int64),
                                          library.operation(Operation::min), node);
  if (Status status = library.check(code, "agreement on the size of shared memory"); !status) return status.error();
  memory->shape_ = ring_shape_for(ranks, smallest);
  if (memory->shape_.slots == 0) {
    memory->note_ = fmt::format("{} ranks of a node need more than the {} bytes of shared memory that may be used; "
                                "they talk by point-to-point messages instead (enlarge /dev/shm)",
                                ranks, smallest);
    return memory;
  }
  if (Status status = memory->allocate(node, rank, ranks); !status) return status.error();
  return memory;
}

Status NodeMemory::allocate(Handle node, std::int32_t rank, std::int32_t ranks) {
  std::byte* mine = nullptr;
  const Functions& call = library_.call;
  const int code = call.Win_allocate_shared(bytes_per_rank(ranks) + cache_line_bytes, 1, library_.constants.info_null,
                                            node, &mine, &window_);
  // Agree on the outcome, so that a failure on one rank is a failure of all and not a rank waiting for ever.
  std::int32_t failures = code != 0, any = 0;
  call.Allreduce(&failures, &any, 1, library_.datatype(DataType::int32), library_.operation(Operation::max), node);
  if (any) {
    if (code != 0) window_ = 0;
    note_ = fmt::format("no shared memory between the ranks of a node ({}); they talk by point-to-point messages "
                        "instead",
                        code != 0 ? library_.error_text(code) : "another rank has none");
    return Nothing{};
  }
  for (std::int32_t r = 0; r < ranks; ++r) {
    Address size = 0;
    int unit = 0;
    std::byte* base = nullptr;
    const int asked = call.Win_shared_query(window_, r, &size, &unit, &base);
    if (Status status = library_.check(asked, "MPI_Win_shared_query"); !status) return status;
    bases_.push_back(align_to_line(base)); // windows are mapped at pages, so all ranks align alike
  }
  for (std::int32_t to = 0; to < ranks; ++to)
    if (to != rank) clear(channel(rank, to));
  return library_.check(call.Barrier(node), "MPI_Barrier");
}

NodeMemory::~NodeMemory() {
  int finalized = 0;
  if (window_ != 0 && library_.call.Finalized(&finalized) == 0 && !finalized) library_.call.Win_free(&window_);
}

// A rank's part holds the channels that it sends on, one for each other rank in ascending order.
ChannelMemory NodeMemory::channel(std::int32_t from, std::int32_t to) const {
  const std::int64_t index = to < from ? to : to - 1;
  return channel_at(bases_[static_cast<std::size_t>(from)] + index * shape_.channel_bytes(), shape_);
}

} // namespace kumihimo::mpi
