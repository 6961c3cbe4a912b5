// What a call moves: the bytes of this rank's part, and to whom.
//
// A rank's part is what it sends: its vector for reductions and broadcasts, all its blocks for an alltoall or a scatter
// at the root, its block for a gather. Of a receive it is what arrived (of one that ends later: what there is room
// for).
#pragma once

#include "mpi_hooks/call.hpp"

#include <cstdint>

namespace kumihimo::record {

struct CallTraffic {
  std::int64_t bytes = 0;
  bool sends = false; // to one rank, `partner`
  int partner = -1;
};

class CallTrafficReader {
 public:
  explicit CallTrafficReader(const mpi::Library& library) : library_(library) {}
  // After the call. `rank`: this one in the call's communicator, for what only a root does.
  CallTraffic of(const mpi_hooks::Call& call, int rank) const;

 private:
  std::int64_t size_of(mpi::Handle type) const;
  std::int64_t received(const mpi_hooks::Call& call) const;
  std::int64_t of_collective(const mpi_hooks::Call& call, int rank) const;
  std::int64_t sum(const mpi_hooks::Call& call, mpi_hooks::Role counts, mpi_hooks::Role type) const;

  const mpi::Library& library_;
};

} // namespace kumihimo::record
