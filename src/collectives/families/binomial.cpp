// binomial, binomial_in_turn, binomial_near: broadcast, reduce and allreduce over a binomial tree.
//
// Idea: relative to the root, rank v has the children v + 2^k for every k below the number of trailing
//   zeros of v; each round doubles the ranks that hold the message. A broadcast sends to the tallest subtree first:
//   in turn, each send starts when the one before has left; or to all children at once. binomial_near has the numbers
//   of its bits turned: the children v + 2^k for every k above the highest bit of v, so that the tallest subtree hangs
//   on the nearest rank, and the most messages of all go the farthest.
// Wins: short messages of broadcast and reduce: ceil(log2 P) rounds. Long ones are sent log2 P times by
//   the root. In turn the tallest subtree has a long message after the time of one; at once all sends share the root's
//   links, which pays where it has several. binomial_near pays nowhere that we know: it is what libraries run.
// Special cases: any number of ranks. The subtree of v holds v .. v + 2^k - 1, so that with root 0 (and
//   always in an allreduce) the operands stay in rank order. Whole message at once unless segments are
//   asked for.
// Reference: folklore; Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 3, and MPICH send in turn; Open MPI
//   sends a broadcast over binomial_near to all children by non-blocking sends and waits for all (coll/base,
//   coll_base_bcast.c and ompi_coll_base_topo_build_bmtree), and reduces over binomial
//   (ompi_coll_base_topo_build_in_order_bmtree).
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

int bits(std::uint32_t number) { return static_cast<int>(std::bit_width(number)); } // which is unsigned before C++23

TreePlace binomial_near_place(std::int32_t ranks, Rank root, Rank rank) {
  const auto absolute = [&](std::int64_t v) { return Rank{static_cast<std::int32_t>((v + root.value) % ranks)}; };
  const auto v = static_cast<std::uint32_t>((rank.value - root.value + ranks) % ranks);
  TreePlace place;
  if (v != 0) place.parent = absolute(v - std::bit_floor(v));
  const auto last = static_cast<std::uint32_t>(ranks - 1);
  for (int k = bits(last) - 1; k >= bits(v); --k) {
    const std::uint32_t child = v + (std::uint32_t{1} << k);
    if (child > last) continue;
    // It has the children child + 2^j, k < j, as far as there are such ranks.
    place.children.push_back({absolute(child), bits(((last - child) >> (k + 1)) + 1) - 1, false});
  }
  return place;
}

enum class Nearest : std::uint8_t { lowest_subtree, tallest_subtree }; // hangs on the rank next to its parent

Result<Schedule> binomial_recipe(const Collective& c, const Parameters& p, SendOrder sends, Nearest nearest) {
  const Rank root = c.kind == CollectiveKind::allreduce ? Rank{0} : c.root;
  const Segments segments = TRY(choose_segments(c, p, 1, Pipelining::whole_message));
  TreeOptions o{p.overlap.value_or(false), p.window.value(), segments, {}, sends};
  o.claims.keeps_rank_order = root == Rank{0};
  // As many relays as a rank's number has ones: at most floor(log2 P).
  o.claims.height = std::bit_width(static_cast<std::uint32_t>(c.ranks)) - 1;
  const auto place = nearest == Nearest::tallest_subtree ? binomial_near_place : binomial_place;
  return tree_schedule(c, {1, [=, ranks = c.ranks](std::int64_t, Rank r) { return place(ranks, root, r); }}, o);
}

Variant binomial_row(std::string summary, Formula time, SendOrder sends, Nearest nearest = Nearest::lowest_subtree) {
  return {.summary = std::move(summary),
          .cost = {std::move(time), cost::powers_of_two && cost::whole_messages},
          .reference = nearest == Nearest::tallest_subtree ? "Open MPI 5, coll_base_bcast.c"
                                                           : "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
          .parameters = tree_parameters("the whole message"),
          .rounding = by_rank_numbers,
          .recipe = [sends, nearest](const Collective& c, const RankSpace&, const Parameters& p) {
            return binomial_recipe(c, p, sends, nearest);
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
Variant bcast_binomial_near::row() {
  using namespace cost;
  return binomial_row("one binomial tree whose tallest subtree hangs on the nearest rank, to all children at once",
                      log_P * alpha + log_P * (log_P + 1) / 2 * n * beta, SendOrder::at_once, Nearest::tallest_subtree);
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
