// linear: scatter by direct messages between the root and all other ranks.
//
// Idea: every rank gets its block straight from the root; all messages at once.
// Wins: long blocks, few ranks: the root's link carries each byte once, and nobody relays.
// Special cases: any number of ranks, any counts.
// Reference: folklore; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
#include "collectives/patterns/blocks.hpp"

namespace kumihimo::scatter_linear {
namespace {

void write(LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks, root = c.root.value;
  if (r != root) return lane.step(receive(root, out[out_block(r)]));
  place_own_block(lane, c, r);
  lane.loop(
      P - 1,
      [&](Variable i) {
        const Expression other = mod(root + 1 + i, P);
        return Round{{send(other, in[in_block(other)])}, 0};
      },
      P - 1);
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "the root sends each rank its block directly",
          .cost = {(P - 1) * (alpha + n * beta), whole_messages},
          .reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
          .parameters = segment_parameters(),
          .recipe = one_lane("direct", write)};
}

} // namespace kumihimo::scatter_linear
