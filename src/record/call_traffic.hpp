// The bytes of this rank's part of a call, and their destination.
//
// A rank's part is the data that it sends: its vector in reductions and broadcasts, all its blocks in an alltoall or in
// a scatter at the root, its block in a gather. The part of a receive is the data that arrived, or the space for it if
// the receive ends later.
#pragma once

#include "mpi_hooks/call.hpp"

#include <cstdint>

namespace kumihimo::record {

struct CallTraffic {
  std::int64_t bytes = 0;
  bool sends = false; // to one rank, `partner`
  int partner = -1;
  std::int64_t length = 0; // of a collective: the bytes of the vector, or of one block, of several the mean
};

class CallTrafficReader {
 public:
  explicit CallTrafficReader(const mpi::Library& library) : library_(library) {}
  // The traffic of a call that has returned. `rank`: this rank in the call's communicator, to recognise the root.
  CallTraffic of(const mpi_hooks::Call& call, int rank) const;

 private:
  std::int64_t size_of(mpi::Handle type) const;
  std::int64_t received(const mpi_hooks::Call& call) const;
  std::int64_t of_collective(const mpi_hooks::Call& call, int rank) const;
  static std::int64_t blocks_of(const mpi_hooks::Call& call, int rank);
  std::int64_t sum(const mpi_hooks::Call& call, mpi_hooks::Role counts, mpi_hooks::Role type) const;

  const mpi::Library& library_;
};

} // namespace kumihimo::record
