#include "interpose/neighbours.hpp"

#include "mpi_hooks/array_lengths.hpp"

#include <algorithm>
#include <vector>

namespace kumihimo::interpose {
namespace {

using Lists = Neighbourhood::Lists;

// Functions about topologies, looked up only in programs with neighbours.
template <class F>
F* pmpi(const char* name) {
  return reinterpret_cast<F*>(mpi::loaded_symbol(name));
}

Result<Neighbourhood> of_axes(const mpi::Library& library, mpi::Handle communicator) {
  const Shape shape = TRY(axes_of(library, communicator));
  std::vector<Neighbourhood::CartesianAxis> all;
  for (const Axis& axis : shape.axes()) all.push_back({axis.length, axis.wraps});
  return Neighbourhood::cartesian(std::move(all), "the communicator's axes");
}

// Every rank knows the neighbours of all.
Result<Neighbourhood> of_graph(const mpi::Library& library, mpi::Handle communicator) {
  static auto* const count = pmpi<int(mpi::Handle, int, int*)>("PMPI_Graph_neighbors_count");
  static auto* const get = pmpi<int(mpi::Handle, int, int, int*)>("PMPI_Graph_neighbors");
  if (!count || !get) return failed("the MPI library has no MPI_Graph_neighbors");
  int ranks = 0;
  library.call.Comm_size(communicator, &ranks);
  std::vector<Lists> lists(static_cast<std::size_t>(ranks));
  for (int r = 0; r < ranks; ++r) {
    int degree = 0;
    if (const int code = count(communicator, r, &degree); code != 0)
      return library.check(code, "MPI_Graph_neighbors_count").error();
    std::vector<std::int32_t>& neighbours = lists[static_cast<std::size_t>(r)].sources;
    neighbours.resize(static_cast<std::size_t>(degree));
    if (const int code = get(communicator, r, degree, neighbours.data()); code != 0)
      return library.check(code, "MPI_Graph_neighbors").error();
    lists[static_cast<std::size_t>(r)].destinations = neighbours;
  }
  return Neighbourhood::of_lists(lists, "the communicator's graph");
}

Lists own_lists(mpi::Handle communicator) {
  std::optional<OwnEdges> own = own_edges(communicator);
  return own ? Lists{std::move(own->sources), std::move(own->destinations)} : Lists{};
}

// In a distributed graph each rank knows its own: all exchange them, padded to the longest.
Result<Neighbourhood> of_distributed_graph(const mpi::Library& library, mpi::Handle communicator) {
  const Lists own = own_lists(communicator);
  const auto in = static_cast<std::int32_t>(own.sources.size()),
             out = static_cast<std::int32_t>(own.destinations.size());
  std::int32_t mine = std::max(in, out), most = 0, ranks = 0;
  library.call.Comm_size(communicator, &ranks);
  const mpi::Handle type = library.datatype(DataType::int32);
  library.call.Allreduce(&mine, &most, 1, type, library.operation(Operation::max), communicator);
  const std::size_t row = 2 + 2 * static_cast<std::size_t>(most);
  std::vector<std::int32_t> told(row), all(row * static_cast<std::size_t>(ranks));
  told[0] = in, told[1] = out;
  std::copy(own.sources.begin(), own.sources.end(), told.begin() + 2);
  std::copy(own.destinations.begin(), own.destinations.end(), told.begin() + 2 + most);
  const int code = library.call.Allgather(told.data(), static_cast<int>(row), type, all.data(), static_cast<int>(row),
                                          type, communicator);
  if (code != 0) return library.check(code, "an exchange of neighbours").error();
  std::vector<Lists> lists(static_cast<std::size_t>(ranks));
  for (std::size_t r = 0; r < lists.size(); ++r) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(r * row);
    lists[r].sources.assign(begin + 2, begin + 2 + begin[0]);
    lists[r].destinations.assign(begin + 2 + most, begin + 2 + most + begin[1]);
  }
  return Neighbourhood::of_lists(lists, "the communicator's graph");
}

} // namespace

Result<Shape> axes_of(const mpi::Library& library, mpi::Handle communicator) {
  static auto* const count = pmpi<int(mpi::Handle, int*)>("PMPI_Cartdim_get");
  static auto* const get = pmpi<int(mpi::Handle, int, int*, int*, int*)>("PMPI_Cart_get");
  int axes = 0;
  if (!count || !get) return failed("the MPI library has no MPI_Cart_get");
  if (const int code = count(communicator, &axes); code != 0) return library.check(code, "MPI_Cartdim_get").error();
  if (axes < 1) return failed("the Cartesian communicator has no axes");
  const auto n = static_cast<std::size_t>(axes);
  std::vector<int> lengths(n), periodic(n), own(n);
  if (const int code = get(communicator, axes, lengths.data(), periodic.data(), own.data()); code != 0)
    return library.check(code, "MPI_Cart_get").error();
  std::vector<Axis> all;
  for (std::size_t a = 0; a < n; ++a) all.push_back({lengths[a], periodic[a] != 0});
  return Shape(std::move(all));
}

std::optional<OwnEdges> own_edges(mpi::Handle communicator) {
  static auto* const count = pmpi<int(mpi::Handle, int*, int*, int*)>("PMPI_Dist_graph_neighbors_count");
  static auto* const get = pmpi<int(mpi::Handle, int, int*, int*, int, int*, int*)>("PMPI_Dist_graph_neighbors");
  int in = 0, out = 0, weighted = 0;
  if (!count || !get || count(communicator, &in, &out, &weighted) != 0) return std::nullopt;
  // At least one entry each, because libraries refuse null pointers.
  const auto room = [](int entries) {
    return std::vector<std::int32_t>(static_cast<std::size_t>(std::max(entries, 1)), 1);
  };
  OwnEdges own{room(in), room(in), room(out), room(out), weighted != 0};
  if (get(communicator, in, own.sources.data(), own.source_weights.data(), out, own.destinations.data(),
          own.destination_weights.data()) != 0)
    return std::nullopt;
  own.sources.resize(static_cast<std::size_t>(in)), own.source_weights.resize(static_cast<std::size_t>(in));
  own.destinations.resize(static_cast<std::size_t>(out)), own.destination_weights.resize(static_cast<std::size_t>(out));
  if (!own.weighted) { // the library may have written something
    std::fill(own.source_weights.begin(), own.source_weights.end(), 1);
    std::fill(own.destination_weights.begin(), own.destination_weights.end(), 1);
  }
  return own;
}

std::shared_ptr<const Neighbourhood> neighbours_of(const mpi::Library& library, mpi::Handle communicator) {
  const auto found = [&]() -> Result<Neighbourhood> {
    switch (mpi_hooks::topology_of(communicator)) {
    case mpi_hooks::TopologyKind::cartesian: return of_axes(library, communicator);
    case mpi_hooks::TopologyKind::graph: return of_graph(library, communicator);
    case mpi_hooks::TopologyKind::distributed: return of_distributed_graph(library, communicator);
    default: return failed("the communicator has no neighbours", "it has no topology");
    }
  }();
  return found ? std::make_shared<const Neighbourhood>(*found) : nullptr;
}

} // namespace kumihimo::interpose
