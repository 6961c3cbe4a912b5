#include "worker/library_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace kumihimo::worker {
namespace {

// Axes as the name gives them, the same on all ranks.
int make_cartesian(const mpi::Library& library, const Neighbourhood& n, mpi::Handle* made) {
  std::vector<int> lengths, periods;
  for (const Neighbourhood::CartesianAxis& axis : n.axes())
    lengths.push_back(axis.length), periods.push_back(axis.periodic);
  return library.call.Cart_create(library.constants.comm_world, static_cast<int>(lengths.size()), lengths.data(),
                                  periods.data(), 0, made);
}

int make_graph(const mpi::Library& library, const Neighbourhood& n, Rank rank, mpi::Handle* made) {
  const auto listed = [](std::span<const Neighbourhood::End> ends) {
    std::vector<int> ranks;
    for (const Neighbourhood::End end : ends) ranks.push_back(end.rank);
    return ranks;
  };
  std::vector<int> sources = listed(n.sources(rank)), destinations = listed(n.destinations(rank));
  const int in = static_cast<int>(sources.size()), out = static_cast<int>(destinations.size());
  const std::vector<int> weights(static_cast<std::size_t>(std::max({in, out, 1})), 1);
  sources.push_back(0), destinations.push_back(0); // no null pointers
  return library.call.Dist_graph_create_adjacent(library.constants.comm_world, in, sources.data(), weights.data(), out,
                                                 destinations.data(), weights.data(), library.constants.info_null, 0,
                                                 made);
}

} // namespace

LibraryCollective::LibraryCollective(const mpi::Library& library, const Collective& c, Rank rank,
                                     const std::optional<Handles>& handles)
    : library_(library), kind_(c.kind), count_(static_cast<int>(c.counts.each)), root_(c.root.value),
      type_(handles ? handles->type : library.datatype(c.type)),
      operation_(handles ? handles->operation : library.operation(c.operation)), aliased_(c.aliased(rank)),
      communicator_(library.constants.comm_world) {
  if (!c.neighbours) return;
  communicator_ = library.constants.comm_null;
  made_ = c.neighbours->is_cartesian() ? make_cartesian(library, *c.neighbours, &communicator_)
                                       : make_graph(library, *c.neighbours, rank, &communicator_);
}

LibraryCollective::~LibraryCollective() {
  const mpi::Constants& known = library_.constants;
  if (communicator_ != known.comm_world && communicator_ != known.comm_null) library_.call.Comm_free(&communicator_);
}

Status LibraryCollective::call(void* input, void* output) const {
  if (made_ != 0) return library_.check(made_, "to make the library's own neighbourhood");
  std::byte nothing{}; // MPICH takes no null pointer for the buffer of a rank without neighbours
  if (is_of_neighbours(kind_)) {
    input = input ? input : &nothing;
    output = output ? output : &nothing;
  }
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
  switch (kind_) {
  case CollectiveKind::barrier:
    return mpi.Barrier(communicator_);
  case CollectiveKind::bcast:
    return mpi.Bcast(output, count_, type_, root_, communicator_);
  case CollectiveKind::reduce:
    return mpi.Reduce(input, output, count_, type_, operation_, root_, communicator_);
  case CollectiveKind::allreduce:
    return mpi.Allreduce(input, output, count_, type_, operation_, communicator_);
  case CollectiveKind::scan:
    return mpi.Scan(input, output, count_, type_, operation_, communicator_);
  case CollectiveKind::exscan:
    return mpi.Exscan(input, output, count_, type_, operation_, communicator_);
  case CollectiveKind::gather:
    return mpi.Gather(input, count_, type_, output, count_, type_, root_, communicator_);
  case CollectiveKind::scatter:
    return mpi.Scatter(input, count_, type_, output, count_, type_, root_, communicator_);
  case CollectiveKind::allgather:
    return mpi.Allgather(input, count_, type_, output, count_, type_, communicator_);
  case CollectiveKind::reduce_scatter:
    return mpi.Reduce_scatter_block(input, output, count_, type_, operation_, communicator_);
  case CollectiveKind::alltoall:
    return mpi.Alltoall(input, count_, type_, output, count_, type_, communicator_);
  case CollectiveKind::neighbor_allgather:
    return mpi.Neighbor_allgather(input, count_, type_, output, count_, type_, communicator_);
  case CollectiveKind::neighbor_alltoall:
    return mpi.Neighbor_alltoall(input, count_, type_, output, count_, type_, communicator_);
  }
  return 0;
}

} // namespace kumihimo::worker
