#include "worker/library_collective.hpp"

#include <fmt/format.h>

namespace kumihimo::worker {

LibraryCollective::LibraryCollective(const mpi::Library& library, const Collective& c, Rank rank,
                                     const std::optional<Handles>& handles)
    : library_(library), kind_(c.kind), count_(static_cast<int>(c.counts.each)), root_(c.root.value),
      type_(handles ? handles->type : library.datatype(c.type)),
      operation_(handles ? handles->operation : library.operation(c.operation)), aliased_(c.aliased(rank)) {}

Status LibraryCollective::call(void* input, void* output) const {
  void* in_place = library_.constants.in_place;
  const int result = !aliased_                          ? code(input, output)
                     : kind_ == CollectiveKind::scatter ? code(input, in_place)
                                                        : code(in_place, output); // of bcast the output alone counts
  if (result == 0) [[likely]]
    return Nothing{};
  return library_.check(result, fmt::format("the library's own {}", name_of(kind_)));
}

int LibraryCollective::code(const void* input, void* output) const {
  const mpi::Functions& mpi = library_.call;
  const mpi::Handle world = library_.constants.comm_world;
  switch (kind_) {
  case CollectiveKind::barrier:
    return mpi.Barrier(world);
  case CollectiveKind::bcast:
    return mpi.Bcast(output, count_, type_, root_, world);
  case CollectiveKind::reduce:
    return mpi.Reduce(input, output, count_, type_, operation_, root_, world);
  case CollectiveKind::allreduce:
    return mpi.Allreduce(input, output, count_, type_, operation_, world);
  case CollectiveKind::scan:
    return mpi.Scan(input, output, count_, type_, operation_, world);
  case CollectiveKind::exscan:
    return mpi.Exscan(input, output, count_, type_, operation_, world);
  case CollectiveKind::gather:
    return mpi.Gather(input, count_, type_, output, count_, type_, root_, world);
  case CollectiveKind::scatter:
    return mpi.Scatter(input, count_, type_, output, count_, type_, root_, world);
  case CollectiveKind::allgather:
    return mpi.Allgather(input, count_, type_, output, count_, type_, world);
  case CollectiveKind::reduce_scatter:
    return mpi.Reduce_scatter_block(input, output, count_, type_, operation_, world);
  case CollectiveKind::alltoall:
    return mpi.Alltoall(input, count_, type_, output, count_, type_, world);
  }
  return 0;
}

} // namespace kumihimo::worker
