// dissemination: barrier in ceil(log2 P) rounds for any number of ranks.
//
// Idea: in round k every rank signals the rank 2^k after it and waits for the rank 2^k before it: then it has heard,
//   through others, of 2^(k+1) ranks.
// Reference: Hensgen, Finkel, Manber, Two algorithms for barrier synchronization, IJPP 17(1), 1988.
#include "collectives/patterns/blocks.hpp"

namespace kumihimo::barrier_dissemination {
namespace {

void write(LaneBuilder& lane, const Collective& c, std::int64_t r) {
  for (std::int64_t P = c.ranks, distance = 1; distance < P; distance *= 2)
    lane.round({signal((r + distance) % P), wait_signal((r + P - distance) % P)});
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "each rank signals the rank 1, 2, 4, ... after it",
          .cost = {ceil_log_P * alpha},
          .reference = "Hensgen, Finkel, Manber, IJPP 17(1), 1988",
          .recipe = one_lane("signals", write)};
}

} // namespace kumihimo::barrier_dissemination
