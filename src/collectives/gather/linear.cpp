// linear: gather and scatter by direct messages between the root and everybody.
//
// Idea: every rank sends its block straight to the root, or gets it from there; all messages at once.
// Wins: long blocks, few ranks: the root's link carries each byte once, and nobody relays.
// Cost: (P - 1) alpha + (P - 1) n beta at the root for n bytes a rank.
// Special cases: any number of ranks, any counts.
// Reference: folklore; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005.
#include "collectives/patterns/blocks.hpp"

namespace kumihimo {
namespace {

void write(LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks, root = c.root.value;
  const bool gathers = c.kind == CollectiveKind::gather;
  if (r != root) return lane.step(gathers ? send(root, in[in_block(r)]) : receive(root, out[out_block(r)]));
  place_own_block(lane, c, r);
  lane.loop(
      P - 1,
      [&](Variable i) {
        const Expression other = mod(root + 1 + i, P);
        return gathers ? Round{{receive(other, out[out_block(other)])}, 0}
                       : Round{{send(other, in[in_block(other)])}, 0};
      },
      P - 1);
}

} // namespace

Rows rooted_linear_rows() {
  Variant v;
  v.name = "linear";
  v.summary = "every block straight between its rank and the root";
  v.cost = "(P - 1)(α + nβ) at the root";
  v.reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005";
  v.parameters = segment_parameters();
  v.recipe = [](const Collective& c, const RankSpace&, const Parameters& p) {
    return one_lane(c, p, "direct", [c](LaneBuilder& lane, std::int64_t r) { write(lane, c, r); });
  };
  return rows_for({CollectiveKind::gather, CollectiveKind::scatter}, v);
}

} // namespace kumihimo
