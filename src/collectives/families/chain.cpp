// chain: broadcast, reduce and allreduce along a pipeline of all ranks.
//
// Idea: rank i of the row that starts at the root hands every segment on to i + 1 (reduce: from i + 1 to
//   i).
// Wins: very long messages on few ranks: every rank sends and receives each byte once, at full bandwidth.
// Special cases: any number of ranks; own value first keeps rank order with root 0 (always in an
//   allreduce).
// Reference: folklore; Träff, Ripke, Optimal broadcast for fully connected processor-node networks, JPDC
//   68(7), 2008.
#include "collectives/patterns/trees/tree.hpp"

namespace kumihimo {
namespace {

TreePlace chain_place(std::int32_t ranks, Rank root, Rank rank) {
  const std::int32_t v = (rank.value - root.value + ranks) % ranks;
  TreePlace place;
  if (v > 0) place.parent = Rank{(rank.value - 1 + ranks) % ranks};
  if (v + 1 < ranks) place.children.push_back({Rank{(rank.value + 1) % ranks}, ranks - 2 - v, false});
  return place;
}

Result<Schedule> chain_recipe(const Collective& c, const RankSpace&, const Parameters& p) {
  const Rank root = c.kind == CollectiveKind::allreduce ? Rank{0} : c.root;
  const Segments segments = TRY(choose_segments(c, p, 1));
  TreeOptions o{p.overlap.value_or(false), p.window.value(), segments, {}};
  o.claims.keeps_rank_order = root == Rank{0};
  o.claims.height = c.ranks - 1;
  return tree_schedule(c, {1, [=, ranks = c.ranks](std::int64_t, Rank r) { return chain_place(ranks, root, r); }}, o);
}

Variant chain_row(Formula time) {
  return {.summary = "a pipeline through all ranks in rank order",
          .cost = {std::move(time)},
          .reference = "Träff, Ripke, JPDC 68(7), 2008",
          .parameters = tree_parameters("the machine's"),
          .rounding = by_rank_numbers,
          .recipe = chain_recipe};
}

} // namespace

Variant bcast_chain::row() {
  using namespace cost;
  return chain_row((P + S - 2) * (alpha + n / S * beta));
}
Variant reduce_chain::row() {
  using namespace cost;
  return chain_row((P + S - 2) * (alpha + n / S * beta) + (P - 1) * n / S * gamma);
}
Variant allreduce_chain::row() {
  using namespace cost;
  return chain_row(2 * (P + S - 2) * (alpha + n / S * beta) + (P - 1) * n / S * gamma);
}

} // namespace kumihimo
