#include "execute/mpi/node_memory.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace kumihimo::mpi {
namespace {

// From the ring that measures best down to the smallest that still works at a useful speed.
constexpr RingShape ring_shapes[] = {{16, 65536}, {8, 65536}, {8, 16384}, {4, 16384}, {4, 4096}};

std::byte* align_to_line(std::byte* p) {
  const auto address = reinterpret_cast<std::uintptr_t>(p);
  return p + (-address & (cache_line_bytes - 1));
}

// Makes the system give the pages that hold these bytes, now, as zeros not written yet.
Status take_pages(std::byte* first, std::int64_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
#ifdef MADV_POPULATE_WRITE // Linux 5.14: says so where touching would end in a SIGBUS
  const auto begin = reinterpret_cast<std::uintptr_t>(first) / page * page;
  const std::size_t length = reinterpret_cast<std::uintptr_t>(first) + static_cast<std::size_t>(bytes) - begin;
  int code = 0;
  do code = madvise(reinterpret_cast<void*>(begin), length, MADV_POPULATE_WRITE);
  while (code != 0 && (errno == EINTR || errno == EAGAIN));
  if (code == 0) return Nothing{};
  if (errno != EINVAL)
    return failed(fmt::format("{} bytes of shared memory", bytes), std::strerror(errno), "enlarge /dev/shm");
#endif
  // Older systems: the limit has shown that there is twice as much.
  for (std::int64_t at = 0; at < bytes; at += static_cast<std::int64_t>(page))
    *static_cast<volatile std::byte*>(first + at) = std::byte{};
  return Nothing{};
}

} // namespace

RingShape ring_shape_for(std::int32_t ranks, std::int64_t limit_bytes) {
  const std::int64_t others = std::max(ranks - 1, 1), room = limit_bytes / std::max(ranks, 1) / others;
  for (const RingShape& shape : ring_shapes) {
    const bool ample = shape.channel_bytes() > ample_bytes_per_rank / others && &shape != std::end(ring_shapes) - 1;
    if (shape.channel_bytes() <= room && !ample) return shape;
  }
  return {0, 0};
}

std::int64_t shared_memory_limit_bytes() {
  struct statvfs facts {};
  if (statvfs("/dev/shm", &facts) != 0) return 0;
  return static_cast<std::int64_t>(facts.f_bavail) * static_cast<std::int64_t>(facts.f_frsize) / 2;
}

// Of two threads that make windows at the same time, as for two communicators, Open MPI 5's UCX component (seen in
// 5.0.11) ends the process.
static bool windows_are_safe(const Library& library) {
  int level = 0;
  return library.family != Family::open_mpi || !library.version.starts_with("Open MPI v5") ||
         library.call.Query_thread(&level) != 0 || level != library.constants.thread_multiple;
}

Result<std::unique_ptr<NodeMemory>> NodeMemory::create(const Library& library, Handle node, std::int64_t limit_bytes) {
  int rank = 0, ranks = 0;
  library.call.Comm_rank(node, &rank);
  library.call.Comm_size(node, &ranks);
  std::unique_ptr<NodeMemory> memory(new NodeMemory(library));
  // All ranks must choose the same shape, whatever each of them sees.
  const bool safe = windows_are_safe(library);
  const std::int64_t mine = safe ? limit_bytes : 0;
  std::int64_t smallest = mine;
  const int code = library.call.Allreduce(&mine, &smallest, 1, library.datatype(DataType::int64),
                                          library.operation(Operation::min), node);
  if (Status status = library.check(code, "agreement on the size of shared memory"); !status) return status.error();
  memory->shape_ = ring_shape_for(ranks, smallest);
  if (!safe) {
    memory->note_ =
        "messages in place of shared memory: threads may make windows at one time, which Open MPI 5 may not "
        "survive";
    return memory;
  }
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
  Handle window = 0;
  const int code = library_.call.Win_allocate_shared(bytes_per_rank(ranks) + cache_line_bytes, 1,
                                                     library_.constants.info_null, node, &mine, &window);
  const Result<bool> none = any_failed(node, library_.check(code, "MPI_Win_allocate_shared"));
  if (!none) return none.error();
  if (*none) return Nothing{}; // a window that only some ranks have is left: freeing it is collective
  window_ = window;
  const Result<bool> unmapped = any_failed(node, map(rank, ranks)); // and nobody goes on before all have cleared
  if (unmapped && !*unmapped) return Nothing{};
  bases_.clear();
  if (unmapped) library_.call.Win_free(&window_); // on all ranks
  window_ = 0;
  return unmapped ? Status(Nothing{}) : Status(unmapped.error());
}

// The addresses of all parts; this rank's own with its pages and its channels empty.
Status NodeMemory::map(std::int32_t rank, std::int32_t ranks) {
  for (std::int32_t r = 0; r < ranks; ++r) {
    Address size = 0;
    int unit = 0;
    std::byte* base = nullptr;
    const int code = library_.call.Win_shared_query(window_, r, &size, &unit, &base);
    if (Status status = library_.check(code, "MPI_Win_shared_query"); !status) return status;
    bases_.push_back(align_to_line(base)); // windows are mapped at pages, so all ranks align alike
  }
  if (Status status = take_pages(bases_[static_cast<std::size_t>(rank)], bytes_per_rank(ranks)); !status) return status;
  for (std::int32_t to = 0; to < ranks; ++to)
    if (to != rank) clear(channel(rank, to));
  return Nothing{};
}

Result<bool> NodeMemory::any_failed(Handle node, const Status& mine) {
  const std::int32_t failures = !mine.ok();
  std::int32_t any = failures;
  const int code = library_.call.Allreduce(&failures, &any, 1, library_.datatype(DataType::int32),
                                           library_.operation(Operation::max), node);
  if (Status status = library_.check(code, "agreement on shared memory"); !status) return status.error();
  if (any)
    note_ = fmt::format("no shared memory between the ranks of a node ({}); they talk by point-to-point messages "
                        "instead",
                        mine ? "another rank has none" : mine.error().sentence());
  return any != 0;
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
