// dissemination: barrier in ceil(log2 P) rounds for any number of ranks.
//
// Idea: in round k every rank signals the rank 2^k after it and waits for the rank 2^k before it: then it has heard,
//   through others, of 2^(k+1) ranks.
// Cost: ceil(log2 P) alpha.
// Reference: Hensgen, Finkel, Manber, Two algorithms for barrier synchronization, IJPP 17(1), 1988.
#include "collectives/patterns/blocks.hpp"

namespace kumihimo {

Rows barrier_dissemination_rows() {
  Variant v;
  v.kind = CollectiveKind::barrier;
  v.name = "dissemination";
  v.summary = "signals to the rank 1, 2, 4, ... after";
  v.cost = "⌈log₂P⌉α";
  v.reference = "Hensgen, Finkel, Manber, IJPP 17(1), 1988";
  v.recipe = [](const Collective& c, const RankSpace&, const Parameters& p) {
    return one_lane(c, p, "signals", [P = std::int64_t{c.ranks}](LaneBuilder& lane, std::int64_t r) {
      for (std::int64_t distance = 1; distance < P; distance *= 2)
        lane.round({signal((r + distance) % P), wait_signal((r + P - distance) % P)});
    });
  };
  return {v};
}

} // namespace kumihimo
