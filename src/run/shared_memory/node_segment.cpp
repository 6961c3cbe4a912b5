#include "shared_memory/node_segment.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace kumihimo::shared_memory {
namespace {

// From the fastest ring to the shortest of useful speed.
constexpr RingShape ring_shapes[] = {{16, 65536}, {8, 65536}, {8, 16384}, {4, 16384}, {4, 4096}};

std::int64_t whole_pages(std::int64_t bytes) {
  const auto page = static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
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

Result<std::unique_ptr<NodeSegment>> NodeSegment::create(const mpi::Library& library, mpi::Handle node,
                                                         std::int64_t limit_bytes, bool reads) {
  int rank = 0, ranks = 0;
  library.call.Comm_rank(node, &rank);
  library.call.Comm_size(node, &ranks);
  std::unique_ptr<NodeSegment> memory(new NodeSegment(library));
  // All ranks must choose the same shape.
  std::int64_t smallest = limit_bytes;
  const int code = library.call.Allreduce(&limit_bytes, &smallest, 1, library.datatype(DataType::int64),
                                          library.operation(Operation::min), node);
  if (Status status = library.check(code, "agreement on the size of shared memory"); !status) return status.error();
  memory->shape_ = ring_shape_for(ranks, smallest);
  if (memory->shape_.slots == 0) {
    memory->note_ = fmt::format("{} ranks of a node need more than the limit of {} bytes of shared memory; they use "
                                "MPI point-to-point messages instead (enlarge /dev/shm)",
                                ranks, smallest);
    return memory;
  }
  if (Status status = memory->allocate(node, rank, ranks); !status) return status.error();
  if (reads && memory->exists())
    if (Status status = memory->find_processes(node, ranks); !status) return status.error();
  return memory;
}

// Where one rank may not read one of the others none reads: it is no more than another way for long messages.
Status NodeSegment::find_processes(mpi::Handle node, std::int32_t ranks) {
  const mpi::Handle type = library_.datatype(DataType::int64);
  constexpr int words = sizeof(MemoryProbe) / sizeof(std::int64_t);
  const MemoryProbe mine = own_probe();
  std::vector<MemoryProbe> all(static_cast<std::size_t>(ranks));
  const int gathered = library_.call.Allgather(&mine, words, type, all.data(), words, type, node);
  const std::int32_t may = gathered == 0 && std::all_of(all.begin(), all.end(), can_read);
  std::int32_t all_may = may;
  const int agreed = library_.call.Allreduce(&may, &all_may, 1, library_.datatype(DataType::int32),
                                             library_.operation(Operation::min), node);
  if (Status status = library_.check(agreed, "agreement on reading each other's memory"); !status) return status;
  if (Status status = library_.check(gathered, "MPI_Allgather"); !status) return status;
  if (all_may)
    for (const MemoryProbe& probe : all) processes_.push_back(probe.process);
  return Nothing{};
}

// Every rank goes through the same agreements, whatever of its own has failed. The file has no memory yet while it has
// a name: a process that is killed then leaves nothing but an empty file.
Status NodeSegment::allocate(mpi::Handle node, std::int32_t rank, std::int32_t ranks) {
  bytes_per_rank_ = whole_pages(shape_.channel_bytes() * (ranks - 1));
  bytes_ = bytes_per_rank_ * ranks;
  Result<SharedFile> file = meet_in_file(node, rank);
  const Result<bool> unmapped = any_failed(node, map(file));
  if (file) file->unlink();
  const bool mapped = unmapped && !*unmapped;
  const Result<bool> short_of =
      mapped ? any_failed(node, take(*file, rank, ranks)) : unmapped; // and nobody goes on before all have cleared
  if (short_of && !*short_of) return Nothing{};
  unmap();
  return short_of ? Status(Nothing{}) : Status(short_of.error());
}

// What rank 0 has made, on all ranks.
Result<SharedFile> NodeSegment::meet_in_file(mpi::Handle node, std::int32_t rank) {
  constexpr SharedFile::Name none = -1;
  Result<SharedFile> mine = rank == 0 ? SharedFile::create(bytes_) : failed("rank 0 could not make a file in /dev/shm");
  SharedFile::Name name = mine ? mine->name() : none;
  const int code = library_.call.Bcast(&name, 1, library_.datatype(DataType::int64), 0, node);
  if (Status status = library_.check(code, "MPI_Bcast"); !status) return status.error();
  return rank == 0 || name == none ? std::move(mine) : SharedFile::open(name);
}

Status NodeSegment::map(const Result<SharedFile>& file) {
  if (!file) return file.error();
  memory_ = TRY(file->map(bytes_));
  return Nothing{};
}

// This rank's part, its channels empty.
Status NodeSegment::take(const SharedFile& file, std::int32_t rank, std::int32_t ranks) {
  if (Status status = file.allocate(rank * bytes_per_rank_, bytes_per_rank_); !status) return status;
  for (std::int32_t to = 0; to < ranks; ++to)
    if (to != rank) clear(channel(rank, to));
  return Nothing{};
}

Result<bool> NodeSegment::any_failed(mpi::Handle node, const Status& mine) {
  const std::int32_t failures = !mine.ok();
  std::int32_t any = failures;
  const int code = library_.call.Allreduce(&failures, &any, 1, library_.datatype(DataType::int32),
                                           library_.operation(Operation::max), node);
  if (Status status = library_.check(code, "agreement on shared memory"); !status) return status.error();
  if (any)
    note_ = fmt::format("no shared memory between the ranks of a node ({}); they use MPI point-to-point messages "
                        "instead",
                        mine ? "another rank could not map it" : mine.error().sentence());
  return any != 0;
}

NodeSegment::~NodeSegment() { unmap(); }

void NodeSegment::unmap() {
  if (std::byte* const memory = std::exchange(memory_, nullptr)) munmap(memory, static_cast<std::size_t>(bytes_));
}

// A rank's part holds the channels that it sends on, one for each other rank in ascending order.
ChannelMemory NodeSegment::channel(std::int32_t from, std::int32_t to) const {
  const std::int64_t index = to < from ? to : to - 1;
  return channel_at(memory_ + from * bytes_per_rank_ + index * shape_.channel_bytes(), shape_);
}

} // namespace kumihimo::shared_memory
