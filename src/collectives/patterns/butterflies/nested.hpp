// Halving and doubling in exchanges whose halves nest: what an exchange parts stays parted in the later ones. Then a
// rank's vector can be laid out by `place` so that each half is one range. An algorithm is the arithmetic of partners
// and places; reduce-scatter, allgather and allreduce follow from it.
#pragma once

#include "collectives/patterns/blocks.hpp"

#include <functional>

namespace kumihimo {

// 2^exchanges ranks. Exchange s parts the ranks whose places agree in their top s bits by the next bit: a rank's
// partner is in the other half. Reduce-scatter goes from exchange 0 on, with halves of growing smallness; allgather
// back to it.
struct NestedExchange {
  int exchanges = 0;
  std::function<std::int64_t(std::int64_t rank, int exchange)> partner;
  std::function<std::int64_t(std::int64_t rank)> place;
  std::function<std::int64_t(std::int64_t place)> rank_at;
};

// One schedule over several nests at once, a lane and a share of the data for each: c.kind is allreduce, reduce_scatter
// or allgather. Blocks are in rank order: so in an allgather each rank first sends its block to the rank whose place is
// its number, and in a reduce-scatter a block's sum takes the same way back.
Result<Schedule> nested_schedule(const Collective& c, std::vector<NestedExchange> nests, const Parameters& p);

} // namespace kumihimo
