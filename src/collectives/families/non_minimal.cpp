// non_minimal: allgather by recursive doubling with the distances reversed: the farthest partner first, when what is
// exchanged is shortest; reduce-scatter the same way back, the nearest first, and allreduce as both.
//
// Idea: on a torus whose lengths are powers of two the partners are half an axis away in x, y, z, then a quarter in x,
//   y, z, ..., at last 1. What a rank holds is one range of blocks throughout if its bit of the first exchange is the
//   lowest one of its place in the array. So each rank first sends its *input* to the rank whose place is its own
//   number: then everything lands in rank order, with no move at the end.
// Wins: long blocks on large tori: 7/6 n P beta, where nearest-first takes 5/24 n P^(4/3) beta.
// Special cases: lengths that are powers of two only: at another length the ranges would not close, and folding a
//   whole plane into its neighbours would double the load of their links. Axes that are used up are left out, so that
//   boxes of unequal powers of two are covered.
// Reference: Sack, Gropp, Faster topology-aware collective algorithms through non-minimal communication, PPoPP 2012.
#include "collectives/patterns/butterflies/nested.hpp"

#include <fmt/format.h>

#include <bit>

namespace kumihimo {
namespace {

// The exchanges in their order, each by what it adds to a place's number.
std::vector<std::int64_t> exchanges(const Shape& shape) {
  std::vector<std::int64_t> order;
  std::vector<std::int32_t> distance;
  for (std::int32_t a = 0; a < shape.dimensions(); ++a) distance.push_back(shape.length(a) / 2);
  for (bool any = true; any;) {
    any = false;
    for (std::int32_t a = 0; a < shape.dimensions(); ++a) {
      std::int32_t& d = distance[static_cast<std::size_t>(a)];
      if (d == 0) continue;
      order.push_back(std::int64_t{d} * shape.stride(a));
      d /= 2;
      any = true;
    }
  }
  return order;
}

// All lengths are powers of two: so each exchange is a bit of the number.
std::int64_t place_in_array(std::int64_t r, const std::vector<std::int64_t>& order) {
  std::int64_t place = 0;
  for (std::size_t k = 0; k < order.size(); ++k) place |= std::int64_t{(r & order[k]) != 0} << k;
  return place;
}
std::int64_t rank_at_place(std::int64_t place, const std::vector<std::int64_t>& order) {
  std::int64_t r = 0;
  for (std::size_t k = 0; k < order.size(); ++k) r |= (place >> k & 1) * order[k];
  return r;
}

Result<Schedule> non_minimal(const Collective& c, const RankSpace& space, const Parameters& p) {
  if (!space.has_shape() || !space.row_major())
    return not_applicable("the algorithm needs a torus with its ranks in order", space.name());
  for (const Axis& axis : space.shape().axes())
    if (!std::has_single_bit(static_cast<std::uint32_t>(axis.length)))
      return not_applicable("the algorithm halves the axes, whose lengths must be powers of two",
                            fmt::format("{} in {}", axis.length, space.shape().text()));
  const std::vector<std::int64_t> order = exchanges(space.shape());
  NestedExchange nest; // an allgather goes through it backwards
  nest.exchanges = static_cast<int>(order.size());
  nest.partner = [order](std::int64_t r, int s) { return r ^ order[order.size() - 1 - static_cast<std::size_t>(s)]; };
  nest.place = [order](std::int64_t r) { return place_in_array(r, order); };
  nest.rank_at = [order](std::int64_t place) { return rank_at_place(place, order); };
  return nested_schedule(c, {std::move(nest)}, p);
}

Variant non_minimal_row(Cost cost) {
  return {.summary = "recursive doubling on a torus: the farthest partner gets the shortest message",
          .cost = std::move(cost),
          .reference = "Sack, Gropp, PPoPP 2012",
          .parameters = segment_parameters(),
          .recipe = non_minimal};
}

} // namespace

Variant allgather_non_minimal::row() {
  using namespace cost;
  return non_minimal_row({(log_P + 1) * alpha + P * n * beta, powers_of_two && more_than_two && whole_messages});
}
Variant reduce_scatter_non_minimal::row() {
  using namespace cost;
  return non_minimal_row(
      {(log_P + 1) * alpha + P * n * beta + (P - 1) * n * gamma, powers_of_two && more_than_two && whole_messages});
}
Variant allreduce_non_minimal::row() {
  using namespace cost;
  return non_minimal_row(
      {2 * log_P * alpha + 2 * (1 - 1 / P) * n * beta + (1 - 1 / P) * n * gamma, powers_of_two && whole_messages});
}

} // namespace kumihimo
