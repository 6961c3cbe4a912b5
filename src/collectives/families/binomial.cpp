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

Result<Schedule> binomial_recipe(const Collective& c, const Parameters& p, SendOrder sends) {
  const Rank root = c.kind == CollectiveKind::allreduce ? Rank{0} : c.root;
  const Segments segments = TRY(choose_segments(c, p, 1, Pipelining::whole_message));
  TreeOptions o{p.overlap.value_or(false), p.window.value(), segments, {}, sends};
  o.claims.keeps_rank_order = root == Rank{0};
  // As many relays as a rank's number has ones: at most floor(log2 P).
  o.claims.height = std::bit_width(static_cast<std::uint32_t>(c.ranks)) - 1;
  return tree_schedule(c, {1, [=, ranks = c.ranks](std::int64_t, Rank r) { return binomial_place(ranks, root, r); }},
                       o);
}

Variant binomial_row(std::string summary, Formula time, SendOrder sends) {
  return {.summary = std::move(summary),
          .cost = {std::move(time), cost::powers_of_two && cost::whole_messages},
          .reference = sends == SendOrder::in_turn ? "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005"
                                                   : "Open MPI 5, coll_base_bcast.c",
          .parameters = tree_parameters("the whole message"),
          .rounding = by_rank_numbers,
          .recipe = [sends](const Collective& c, const RankSpace&, const Parameters& p) {
            return binomial_recipe(c, p, sends);
          }};
}
Variant at_once(Formula time) {
  return binomial_row("one binomial tree, the whole message to all children at once", std::move(time),
                      SendOrder::at_once);
}
Variant in_turn(Formula time) {
  return binomial_row("one binomial tree, the whole message to one child after the other", std::move(time),
                      SendOrder::in_turn);
}

} // namespace

Variant bcast_binomial::row() {
  using namespace cost;
  return at_once(log_P * alpha + log_P * (log_P + 1) / 2 * n * beta);
}
Variant bcast_binomial_in_turn::row() {
  using namespace cost;
  return in_turn(log_P * (alpha + n * beta));
}
Variant reduce_binomial::row() { // children are received one after the other: there is one form
  using namespace cost;
  Variant v = binomial_row("one binomial tree, the whole message at once", log_P * (alpha + n * beta + n * gamma),
                           SendOrder::in_turn);
  v.reproducible = short_messages;
  return v;
}
Variant allreduce_binomial::row() {
  using namespace cost;
  return at_once(2 * log_P * alpha + log_P * (log_P + 3) / 2 * n * beta + log_P * n * gamma);
}
Variant allreduce_binomial_in_turn::row() {
  using namespace cost;
  return in_turn(log_P * (2 * alpha + 2 * n * beta + n * gamma));
}

} // namespace kumihimo
