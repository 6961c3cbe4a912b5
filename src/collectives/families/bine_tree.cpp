// bine, bine_in_turn: broadcast and reduce over a binomial tree of negabinary numbers.
//
// Idea: in the k steps of 2^k ranks, whoever has the message sends it over the next of the distances ..., 11, -5,
//   3, -1, 1 (sums of powers of -2): ranks at an even number from the root upwards, odd ones downwards. Each step
//   doubles the ranks that have it, as in a binomial tree, but partners are a third nearer in rank numbers. A broadcast
//   sends in these steps, in turn, or to all children at once.
// Wins: short messages where rank numbers tell nearness (fat trees, dragonflies): fewer messages cross groups.
// Special cases: powers of two alone, whose numbers the sums of powers of -2 are. Operands do not stay in rank order.
// Reference: De Sensi et al., Bine trees: enhancing collective operations by optimizing communication locality,
//   SC 2025, whose steps are in turn; sent at once as Open MPI's binomial tree (binomial.cpp).
#include "collectives/patterns/bine_tree.hpp"

#include "collectives/patterns/trees/tree.hpp"

#include <fmt/format.h>

#include <bit>

namespace kumihimo {
namespace {

TreePlace bine_tree_place(std::int32_t ranks, Rank root, Rank rank) {
  const auto absolute = [&](std::int64_t u) {
    return Rank{static_cast<std::int32_t>(floor_mod(u + root.value, ranks))};
  };
  const BinePlace bine = bine_place(ranks, floor_mod(rank.value - root.value, ranks));
  TreePlace place;
  if (bine.parent) place.parent = absolute(*bine.parent);
  for (const BinePlace::Child& child : bine.children)
    place.children.push_back({absolute(child.number), child.steps, false});
  return place;
}

Result<Schedule> bine_recipe(const Collective& c, const Parameters& p, SendOrder sends) {
  if (!std::has_single_bit(static_cast<std::uint32_t>(c.ranks)))
    return not_applicable("the algorithm needs a number of ranks that is a power of two", c.ranks);
  const Segments segments = TRY(choose_segments(c, p, 1, Pipelining::whole_message));
  TreeOptions o{false, p.window.value(), segments, {}, sends};
  o.claims.height = std::countr_zero(static_cast<std::uint32_t>(c.ranks));
  return tree_schedule(c, {1, [=, ranks = c.ranks](std::int64_t, Rank r) { return bine_tree_place(ranks, c.root, r); }},
                       o);
}

Variant bine_row(const std::string& sends_to, Cost cost, SendOrder sends) {
  return {.summary = "a binomial tree over distances ..., 11, 5, 3, 1, 1, to alternate sides" + sends_to,
          .cost = std::move(cost),
          .reference =
              sends == SendOrder::in_turn ? "De Sensi et al., SC 2025" : "the tree of De Sensi et al., SC 2025",
          .parameters = tree_parameters("the whole message"),
          .rounding = by_rank_numbers,
          .recipe = [sends](const Collective& c, const RankSpace&, const Parameters& p) {
            return bine_recipe(c, p, sends);
          }};
}

} // namespace

Variant bcast_bine::row() {
  using namespace cost;
  return bine_row("; to all children at once",
                  {log_P * alpha + log_P * (log_P + 1) / 2 * n * beta, powers_of_two && whole_messages},
                  SendOrder::at_once);
}
Variant bcast_bine_in_turn::row() {
  using namespace cost;
  return bine_row("; to one child after the other", {log_P * (alpha + n * beta), powers_of_two && whole_messages},
                  SendOrder::in_turn);
}
Variant reduce_bine::row() {
  using namespace cost;
  return bine_row("", {log_P * (alpha + n * beta + n * gamma), whole_messages}, SendOrder::in_turn);
}

} // namespace kumihimo
