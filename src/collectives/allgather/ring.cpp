// ring: allgather round a ring of all ranks.
//
// Idea: every rank hands on to its right what it received from its left, its own block first.
// Wins: long blocks where neighbours in rank order are near: P n beta whatever P; P - 1 steps cost latency.
// Special cases: any number of ranks, any counts.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.1.
#include "collectives/patterns/blocks.hpp"

namespace kumihimo::allgather_ring {
namespace {

void write(LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks, right = (r + 1) % P, left = (r + P - 1) % P;
  const auto B = [P](Expression b) { return out_block(mod(std::move(b), P)); };
  place_own_block(lane, c, r);
  lane.loop(P - 1, [&](Variable i) { return exchange(right, out[B(r - i)], left, into(out[B(r - 1 - i)])); });
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "each rank forwards blocks to the next rank, P - 1 times",
          .cost = {(P - 1) * (S * alpha + n * beta)},
          .reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
          .parameters = segment_parameters(),
          .recipe = one_lane("ring", write)};
}

} // namespace kumihimo::allgather_ring
