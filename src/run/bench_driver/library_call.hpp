// The MPI library's own collectives by name, alone and put together.
#pragma once

#include "base/result.hpp"
#include "schedule/collective.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kumihimo::bench_driver {

// The result of a collective from which another can begin, and the one from which a collective can begin.
enum class ResultLocation : std::uint8_t { nothing, vector_at_root, blocks };
ResultLocation leaves(CollectiveKind kind);
ResultLocation takes(CollectiveKind kind);

// The collectives to call: "allreduce", "alltoall", ...; "reduce+bcast", "reduce_scatter+allgather": the second works
// on the result of the first; "2 bcast": the vector in halves, one after the other.
struct LibraryCall {
  std::vector<CollectiveKind> steps;
  std::int64_t parts = 1;

  bool reduces() const;
};
Result<LibraryCall> parse_library_call(std::string_view name);

} // namespace kumihimo::bench_driver
