// bruck: allgather in ceil(log2 P) steps for any number of ranks.
//
// Idea: in step k every rank sends what it holds to the rank 2^k before it and receives as much from the rank 2^k after
//   it; the last step moves what is still missing. What is held is a range of blocks round the end of the array: two
//   runs in one message, in place of the rotation at the end.
// Wins: short blocks, numbers of ranks that are no powers of two.
// Special cases: any number of ranks, any counts.
// Reference: Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997, section 4.
#include "collectives/patterns/blocks.hpp"

namespace kumihimo::allgather_bruck {
namespace {

void write(LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks;
  const auto held_from = [P](std::int64_t first, std::int64_t n) {
    return out[cyclic_blocks(Layout::output_blocks, first, n, P)];
  };
  place_own_block(lane, c, r);
  for (std::int64_t held = 1; held < P; held *= 2) {
    const std::int64_t n = std::min(held, P - held), after = (r + held) % P;
    lane.round(exchange((r + P - held) % P, held_from(r, n), after, into(held_from(after, n))));
  }
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "each rank sends all blocks that it holds to the rank 1, 2, 4, ... before it; any number of ranks",
          .cost = {ceil_log_P * alpha + (P - 1) * n * beta},
          .reference = "Bruck et al., IEEE TPDS 8(11), 1997",
          .recipe = one_lane("bruck", write)};
}

} // namespace kumihimo::allgather_bruck
