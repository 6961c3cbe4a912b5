#include "mpi_hooks/array_lengths.hpp"

#include "mpi_hooks/fortran.hpp"

namespace kumihimo::mpi_hooks {
namespace {

template <class F>
F* function(const char* name) {
  return reinterpret_cast<F*>(mpi::loaded_symbol(name));
}

ArrayLengths whole(Handle communicator) {
  static const auto size_of = function<int(Handle, int*)>("PMPI_Comm_size");
  static const auto remote_size_of = function<int(Handle, int*)>("PMPI_Comm_remote_size");
  static const auto is_inter = function<int(Handle, int*)>("PMPI_Comm_test_inter");
  int inter = 0, own = 0, ranks = 0;
  if (is_inter(communicator, &inter) != 0 || size_of(communicator, &own) != 0) return {};
  if (!inter) return {own, own, own};
  return remote_size_of(communicator, &ranks) == 0 ? ArrayLengths{ranks, ranks, own} : ArrayLengths{};
}

ArrayLengths neighbours(Handle communicator) {
  static const auto dimensions_of = function<int(Handle, int*)>("PMPI_Cartdim_get");
  static const auto rank_in = function<int(Handle, int*)>("PMPI_Comm_rank");
  static const auto count_of_graph = function<int(Handle, int, int*)>("PMPI_Graph_neighbors_count");
  static const auto counts_of_dist = function<int(Handle, int*, int*, int*)>("PMPI_Dist_graph_neighbors_count");
  int n = 0, in = 0, out = 0, rank = 0, weighted = 0;
  const TopologyKind topology = topology_of(communicator);
  if (topology == TopologyKind::cartesian)
    return dimensions_of(communicator, &n) == 0 ? ArrayLengths{2 * n, 2 * n} : ArrayLengths{};
  if (topology == TopologyKind::graph && rank_in(communicator, &rank) == 0 &&
      count_of_graph(communicator, rank, &n) == 0)
    return {n, n};
  if (topology == TopologyKind::distributed && counts_of_dist(communicator, &in, &out, &weighted) == 0)
    return {out, in};
  return {};
}

} // namespace

TopologyKind topology_of(Handle communicator) {
  static const auto test = function<int(Handle, int*)>("PMPI_Topo_test");
  int status = 0;
  if (!test || test(communicator, &status) != 0) return TopologyKind::none;
  if (status == (is_open_mpi() ? 1 : 2)) return TopologyKind::cartesian;
  if (status == (is_open_mpi() ? 2 : 1)) return TopologyKind::graph;
  return status == 3 ? TopologyKind::distributed : TopologyKind::none;
}

ArrayLengths array_lengths_of(const HookedCall& call) {
  const Handle communicator = call.handle(Role::communicator);
  const CollectiveRow* const collective = collective_of(call.name).row;
  return collective && collective->of_neighbours() ? neighbours(communicator) : whole(communicator);
}

int entries(const HookedCall& call, const ArrayLengths& lengths, Role array) {
  switch (array) {
  case Role::requests: return static_cast<int>(call.integer(Role::request_count));
  case Role::counts: // the result of the other group is dealt out to this one
    return lengths.own;
  case Role::receive_counts:
  case Role::receive_displacements:
  case Role::receive_addresses:
  case Role::receive_types: return lengths.receives;
  default: return lengths.sends;
  }
}

} // namespace kumihimo::mpi_hooks
