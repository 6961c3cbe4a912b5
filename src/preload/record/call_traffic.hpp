// The bytes of this rank's part of a call, and their destination.
//
// A rank's part is the data that it sends: its vector in reductions and broadcasts, all its blocks in an alltoall or in
// a scatter at the root, its block in a gather. The part of a receive is the data that arrived, or the space for it if
// the receive ends later.
#pragma once

#include "mpi/types.hpp"
#include "mpi_hooks/call.hpp"
#include "record/call_traits.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::record {

struct CallTraffic {
  std::int64_t bytes = 0;
  bool sends = false; // to one rank, `partner`
  int partner = -1;
  std::int64_t length = 0; // of a collective: the bytes of the vector, or of one block, of several the mean
};

class CallTrafficReader {
 public:
  CallTrafficReader(const mpi::Library& library, const mpi::Types& types) : library_(library), types_(types) {}
  // The traffic of a call that has returned. `rank`: this rank in the call's communicator, to recognise the root.
  CallTraffic of(const mpi_hooks::HookedCall& call, int rank) const;
  // Of an alltoall of irregular blocks: the bytes to each rank; empty for other calls.
  std::vector<std::int64_t> parts_of(const mpi_hooks::HookedCall& call) const;
  // The same of a call in C whose traits have a `partner_at`.
  CallTraffic of_message(const mpi_hooks::HookedCall& call, const CallTraits& traits) const {
    const auto integer = [&](int at) {
      return static_cast<std::int32_t>(static_cast<std::uint32_t>(call.words()[at]));
    };
    const int partner = integer(traits.partner_at);
    if (partner == library_.constants.proc_null && traits.kind != mpi_hooks::CallKind::one_sided)
      return {0, true, partner};
    std::int64_t count = 1;
    if (traits.count_at >= 0)
      count = call.large ? static_cast<std::int64_t>(call.words()[traits.count_at]) : integer(traits.count_at);
    const bool long_handles = library_.family == mpi::LibraryFamily::open_mpi;
    const mpi::Handle type =
        long_handles ? static_cast<mpi::Handle>(call.words()[traits.type_at]) : integer(traits.type_at);
    return {count * size_of(type), true, partner};
  }

 private:
  [[gnu::hot]] std::int64_t size_of(mpi::Handle type) const;
  std::int64_t asked_size_of(mpi::Handle type) const; // of the library
  std::int64_t received(const mpi_hooks::HookedCall& call) const;
  std::int64_t of_collective(const mpi_hooks::HookedCall& call, int rank) const;
  static std::int64_t blocks_of(const mpi_hooks::HookedCall& call, int rank);
  std::int64_t sum(const mpi_hooks::HookedCall& call, mpi_hooks::Role counts, mpi_hooks::Role type) const;

  const mpi::Library& library_;
  const mpi::Types& types_;
};

} // namespace kumihimo::record
