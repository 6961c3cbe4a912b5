#include "bench_driver/library_collective.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

namespace kumihimo::bench_driver {
namespace {

// Axes as the name gives them, the same on all ranks.
int make_cartesian(const mpi::Library& library, mpi::Handle world, const Neighbourhood& n, mpi::Handle* made) {
  std::vector<int> lengths, periods;
  for (const Neighbourhood::CartesianAxis& axis : n.axes())
    lengths.push_back(axis.length), periods.push_back(axis.periodic);
  return library.call.Cart_create(world, static_cast<int>(lengths.size()), lengths.data(), periods.data(), 0, made);
}

int make_graph(const mpi::Library& library, mpi::Handle world, const Neighbourhood& n, Rank rank, mpi::Handle* made) {
  const auto listed = [](std::span<const Neighbourhood::End> ends) {
    std::vector<int> ranks;
    for (const Neighbourhood::End end : ends) ranks.push_back(end.rank);
    return ranks;
  };
  return bench_driver::make_graph(library, world, listed(n.sources(rank)), listed(n.destinations(rank)), made);
}

} // namespace

int make_graph(const mpi::Library& library, mpi::Handle world, std::vector<int> sources, std::vector<int> destinations,
               mpi::Handle* made) {
  const int in = static_cast<int>(sources.size()), out = static_cast<int>(destinations.size());
  const std::vector<int> weights(static_cast<std::size_t>(std::max({in, out, 1})), 1);
  sources.push_back(0), destinations.push_back(0); // no null pointers
  return library.call.Dist_graph_create_adjacent(world, in, sources.data(), weights.data(), out, destinations.data(),
                                                 weights.data(), library.constants.info_null, 0, made);
}

LibraryCollective::LibraryCollective(const mpi::Library& library, mpi::Handle world, const Collective& c, Rank rank,
                                     const std::optional<Handles>& handles)
    : library_(library), world_(world), aliased_(c.aliased(rank)) {
  call_.kind = c.kind;
  call_.count = static_cast<int>(c.counts.each);
  call_.type = handles ? handles->type : library.datatype(c.type);
  call_.operation = handles ? handles->operation : library.operation(c.operation);
  call_.root = c.root.value;
  call_.communicator = world;
  if (c.counts.irregular()) set_blocks(c, rank);
  if (!c.neighbours) return;
  call_.communicator = library.constants.comm_null;
  made_ = c.neighbours->is_cartesian() ? make_cartesian(library, world, *c.neighbours, &call_.communicator)
                                       : make_graph(library, world, *c.neighbours, rank, &call_.communicator);
}

void LibraryCollective::set_blocks(const Collective& c, Rank rank) {
  const auto add = [](Blocks& blocks, std::int64_t count) {
    blocks.displacements.push_back(blocks.counts.empty() ? 0 : blocks.displacements.back() + blocks.counts.back());
    blocks.counts.push_back(static_cast<int>(count));
  };
  const auto table = [&](std::int64_t at) { return (*c.counts.table)[static_cast<std::size_t>(at)]; };
  const std::int64_t P = c.ranks;
  if (c.neighbours) {
    for (std::size_t k = 0; k < c.neighbours->destinations(rank).size(); ++k)
      add(sent_, elements_to(c, rank, static_cast<std::int64_t>(k)));
    for (std::size_t k = 0; k < c.neighbours->sources(rank).size(); ++k)
      add(received_, elements_from(c, rank, static_cast<std::int64_t>(k)));
  } else {
    const bool pairs = c.counts.known == Counts::Known::local;
    for (std::int64_t b = 0; b < P; ++b) {
      add(sent_, table(pairs ? rank.value * P + b : b));
      add(received_, table(pairs ? b * P + rank.value : b));
    }
  }
  if (c.neighbours && !c.kind->sends_to_each()) call_.count = static_cast<int>(elements_to(c, rank, 0));
  if (c.counts.known == Counts::Known::global || c.counts.known == Counts::Known::rooted)
    call_.count = static_cast<int>(table(rank.value));
  for (Blocks* const blocks : {&sent_, &received_})
    if (blocks->counts.empty()) add(*blocks, 0); // no null pointers
  call_.is_irregular = true;
  call_.sent = sent_.arrays(), call_.received = received_.arrays();
}

LibraryCollective::~LibraryCollective() {
  if (call_.communicator != world_ && call_.communicator != library_.constants.comm_null)
    library_.call.Comm_free(&call_.communicator);
}

Status LibraryCollective::check_callable() const {
  if (!plan::has_call(call_.kind, call_.is_irregular))
    return not_applicable(fmt::format("MPI has no {}", name_of(call_.kind)));
  return made_ == 0 ? Nothing{} : library_.check(made_, "to make the library's own neighbourhood");
}

plan::CollectiveCall LibraryCollective::call_on(void* input, void* output) const {
  static std::byte nothing{}; // MPICH takes no null pointer for the buffer of a rank without neighbours
  if (call_.kind->of_neighbours()) {
    input = input ? input : &nothing;
    output = output ? output : &nothing;
  }
  plan::CollectiveCall made = call_;
  const bool by_receiver = made.kind->may_be_in_place() && made.kind->is_in_place_by_receiver();
  made.send = aliased_ && !by_receiver ? library_.constants.in_place : input;
  made.receive = aliased_ && by_receiver ? library_.constants.in_place : output;
  return made;
}

Status LibraryCollective::checked(int code) const {
  if (code == 0) [[likely]]
    return Nothing{};
  return library_.check(code, fmt::format("the library's own {}", name_of(call_.kind)));
}

Status LibraryCollective::call(void* input, void* output) const {
  if (Status s = check_callable(); !s) return s;
  return checked(plan::call_library(library_.call, call_on(input, output)));
}

Status LibraryCollective::begin(void* input, void* output) {
  if (Status s = check_callable(); !s) return s;
  return checked(plan::begin_library(library_.call, call_on(input, output), &request_));
}

Status LibraryCollective::wait() { return checked(library_.call.Wait(&request_, library_.constants.status_ignore)); }

} // namespace kumihimo::bench_driver
