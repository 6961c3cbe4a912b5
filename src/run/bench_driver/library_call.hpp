// The MPI library's own collectives by name, alone and put together.
#pragma once

#include "base/result.hpp"
#include "schedule/collective.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kumihimo::bench_driver {

// What a collective leaves that another can begin with, and what one takes that follows another.
enum class ResultLocation : std::uint8_t { nothing, vector_at_root, blocks };
ResultLocation leaves(CollectiveKind kind);
ResultLocation takes(CollectiveKind kind);

// What is called: "allreduce", "alltoall", ...; "reduce+bcast", "reduce_scatter+allgather": one on what the other left;
// "2 bcast": the vector in halves, one after the other.
struct LibraryCall {
  std::vector<CollectiveKind> steps;
  std::int64_t parts = 1;

  bool reduces() const;
};
Result<LibraryCall> parse_library_call(std::string_view name);

} // namespace kumihimo::bench_driver
