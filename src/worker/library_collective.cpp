#include "worker/library_collective.hpp"

#include <fmt/format.h>

namespace kumihimo::worker {

LibraryCollective::LibraryCollective(const mpi::Library& library, const Collective& c, Rank rank,
                                     const std::optional<Handles>& handles)
    : library_(library), aliased_(c.aliased(rank)) {
  call_.kind = c.kind;
  call_.count = static_cast<int>(c.counts.each);
  call_.type = handles ? handles->type : library.datatype(c.type);
  call_.operation = handles ? handles->operation : library.operation(c.operation);
  call_.root = c.root.value;
  call_.communicator = library.constants.comm_world;
}

Status LibraryCollective::call(void* input, void* output) const {
  mpi::CollectiveCall made = call_;
  const bool by_receiver = made.kind == CollectiveKind::scatter;
  made.send = aliased_ && !by_receiver ? library_.constants.in_place : input;
  made.receive = aliased_ && by_receiver ? library_.constants.in_place : output;
  const int code = mpi::make(library_.call, made);
  if (code == 0) [[likely]]
    return Nothing{};
  return library_.check(code, fmt::format("the library's own {}", name_of(made.kind)));
}

} // namespace kumihimo::worker
