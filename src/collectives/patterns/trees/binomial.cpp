// binomial, binomial_in_turn: broadcast, reduce and allreduce over a binomial tree.
//
// Idea: relative to the root, rank v has the children v + 2^k for every k below the number of trailing
//   zeros of v; each round doubles the ranks that hold the message. A broadcast sends to the tallest subtree first:
//   in turn, each send starts when the one before has left; or to all children at once.
// Wins: short messages of broadcast and reduce: ceil(log2 P) rounds. Long ones are sent log2 P times by
//   the root. In turn the tallest subtree has a long message after the time of one; at once all sends share the root's
//   links, which pays where it has several.
// Special cases: any number of ranks. The subtree of v holds v .. v + 2^k - 1, so that with root 0 (and
//   always in an allreduce) the operands stay in rank order. Whole message at once unless segments are
//   asked for.
// Reference: folklore; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 3, and MPICH send in turn; Open MPI 5
//   sends a broadcast to all children by non-blocking sends and waits for all (coll/base, coll_base_bcast.c).
#include "collectives/patterns/trees/tree.hpp"

#include <bit>

namespace kumihimo {
namespace {

TreePlace binomial_place(std::int32_t ranks, Rank root, Rank rank) {
  const auto absolute = [&](std::int32_t v) { return Rank{(v + root.value) % ranks}; };
  const auto v = static_cast<std::uint32_t>((rank.value - root.value + ranks) % ranks);
  const int levels = v == 0 ? 31 : std::countr_zero(v);
  TreePlace place;
  if (v != 0) place.parent = absolute(static_cast<std::int32_t>(v & (v - 1)));
  for (int k = 0; k < levels; ++k) {
    const std::int64_t child = v + (std::int64_t{1} << k);
    if (child >= ranks) break;
    place.children.push_back({absolute(static_cast<std::int32_t>(child)), k, false});
  }
  return place;
}

Result<Schedule> binomial_recipe(const Collective& c, const Parameters& p, Sends sends) {
  const Rank root = c.kind == CollectiveKind::allreduce ? Rank{0} : c.root;
  const Segments segments = TRY(choose_segments(c, p, 1, Pipelining::whole_message));
  TreeOptions o{p.overlap.value_or(false), p.window.value(), segments, {}, sends};
  o.claims.keeps_rank_order = root == Rank{0};
  // As many relays as a rank's number has ones: at most floor(log2 P).
  o.claims.height = std::bit_width(static_cast<std::uint32_t>(c.ranks)) - 1;
  return tree_schedule(c, {1, [=, ranks = c.ranks](std::int64_t, Rank r) { return binomial_place(ranks, root, r); }},
                       o);
}

} // namespace

Variant binomial_tree(Cost cost, Sends sends) {
  const bool in_turn = sends == Sends::in_turn;
  return {.summary = in_turn ? "one binomial tree, the whole message to one child after the other"
                             : "one binomial tree, the whole message to all children at once",
          .cost = std::move(cost),
          .reference = in_turn ? "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005" : "Open MPI 5, coll_base_bcast.c",
          .parameters = tree_parameters("the whole message"),
          .rounding = by_rank_numbers,
          .recipe = [sends](const Collective& c, const RankSpace&, const Parameters& p) {
            return binomial_recipe(c, p, sends);
          }};
}

} // namespace kumihimo
