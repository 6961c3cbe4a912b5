// swing, bine: allreduce, reduce-scatter and allgather in exchanges over 1, 1, 3, 5, 11, ... ranks, to the two sides in
// turn.
//
// Idea: at distance d(s) = 1, -1, 3, -5, ... (sums of powers of -2) even coordinates exchange with x + d(s), odd ones
//   with x - d(s): halving goes from the nearest on, as in recursive halving, but the distances are a third shorter, so
//   that messages of one exchange share fewer links. On a torus the exchanges go over the axes in turn; one lane starts
//   with each axis, and a mirrored one goes the other way round, so that all links of a rank are used.
// Wins: medium and long vectors on tori, where rings take too many steps and halving over powers of two congests.
// Special cases: axes whose lengths are powers of two: at others the sets that an exchange parts overlap. On ranks
//   without a shape, one axis. Reduce-scatter and allgather of blocks in rank order take one exchange more, which
//   shuffles them (as in non_minimal).
// Reference: De Sensi, Bonato, Saam, Hoefler, Swing: short-cutting rings for higher bandwidth allreduce, NSDI 2024.
#include "collectives/patterns/butterflies/nested.hpp"
#include "collectives/patterns/negabinary.hpp"

#include <fmt/format.h>

#include <bit>

namespace kumihimo {
namespace {

struct SwingHop {
  std::int64_t length, stride; // of the axis
  int step;
};

// Numbers that part at step s of a ring of 2^k: the even numbers by bit s + 1, each odd one with the even one that it
// meets last, and at last these two.
std::int64_t bit_of(std::int64_t x, std::int64_t length, int step) {
  const int last = std::countr_zero(static_cast<std::uint64_t>(length)) - 1;
  if (step == last) return x & 1;
  const std::int64_t even = x % 2 == 0 ? x : floor_mod(swing_partner(x, last), length);
  return even >> (step + 1) & 1;
}

// Mirrored, every coordinate is read backwards.
NestedExchange nest_of(const Shape& shape, std::int32_t first_axis, bool mirrored) {
  std::vector<SwingHop> hops;
  for (int step = 0; step < 31; ++step)
    for (std::int32_t j = 0; j < shape.dimensions(); ++j) {
      const std::int32_t a = (first_axis + j) % shape.dimensions();
      if (std::int64_t{1} << step < shape.length(a)) hops.push_back({shape.length(a), shape.stride(a), step});
    }
  const auto coordinate = [mirrored](std::int64_t r, const SwingHop& h) {
    const std::int64_t x = r / h.stride % h.length;
    return mirrored ? (h.length - x) % h.length : x;
  };
  NestedExchange nest;
  nest.exchanges = static_cast<int>(hops.size());
  nest.partner = [=](std::int64_t r, int exchange) {
    const SwingHop& h = hops[static_cast<std::size_t>(exchange)];
    const std::int64_t x = coordinate(r, h), there = floor_mod(swing_partner(x, h.step), h.length);
    const std::int64_t moved = mirrored ? x - there : there - x;
    return r + (floor_mod(r / h.stride + moved, h.length) - r / h.stride % h.length) * h.stride;
  };
  nest.place = [=](std::int64_t r) {
    std::int64_t place = 0;
    for (const SwingHop& h : hops) place = 2 * place + bit_of(coordinate(r, h), h.length, h.step);
    return place;
  };
  std::vector<std::int64_t> ranks(static_cast<std::size_t>(shape.places()));
  for (std::int64_t r = 0; r < shape.places(); ++r) ranks[static_cast<std::size_t>(nest.place(r))] = r;
  nest.rank_at = [ranks = std::make_shared<const std::vector<std::int64_t>>(std::move(ranks))](std::int64_t place) {
    return (*ranks)[static_cast<std::size_t>(place)];
  };
  return nest;
}

Result<Schedule> over(const Shape& shape, std::int64_t lanes, const Collective& c, const Parameters& p) {
  std::vector<NestedExchange> nests;
  for (std::int64_t l = 0; l < lanes; ++l)
    nests.push_back(nest_of(shape, static_cast<std::int32_t>(l % shape.dimensions()), l >= shape.dimensions()));
  return nested_schedule(c, std::move(nests), p);
}

Result<Schedule> swing(const Collective& c, const RankSpace& space, const Parameters& p) {
  if (!space.row_major()) return not_applicable("the algorithm needs a torus with its ranks in order");
  std::vector<Axis> axes;
  bool rings = space.has_shape();
  for (const Axis& axis : space.shape().axes()) {
    if (!std::has_single_bit(static_cast<std::uint32_t>(axis.length)))
      return not_applicable("the algorithm needs axes whose lengths are powers of two", axis.length);
    if (axis.length > 1) axes.push_back(axis), rings &= axis.is_ring();
  }
  const auto n = static_cast<std::int64_t>(axes.size()), most = rings ? 2 * n : n;
  const std::int64_t lanes = p.trees.value_or(most);
  if (lanes > most) return not_applicable(fmt::format("trees must be at most {} on {}", most, space.name()), lanes);
  return over(Shape(axes), lanes, c, p);
}

Result<Schedule> bine(const Collective& c, const RankSpace&, const Parameters& p) {
  if (!std::has_single_bit(static_cast<std::uint32_t>(c.ranks)))
    return not_applicable("the algorithm needs a number of ranks that is a power of two", c.ranks);
  return over(Shape({Axis{c.ranks, true}}), 1, c, p);
}

Variant swing_row(Cost cost) {
  Variant v{.summary = "exchanges over 1, 1, 3, 5, 11, ... ranks to both sides in turn, on all links of a torus",
            .cost = std::move(cost),
            .reference = "De Sensi et al., NSDI 2024",
            .parameters = segment_parameters(),
            .recipe = swing};
  v.parameters.push_back({parameter::trees, DerivedDefault{"2 x dimensions"}});
  return v;
}

// The same butterfly over rank numbers alone, whatever the network: on fat trees and dragonflies too it stays nearer.
Variant bine_row(Cost cost) {
  return {.summary = "the butterfly of Bine trees: halves exchanged over 1, 1, 3, 5, 11, ... rank numbers",
          .cost = std::move(cost),
          .reference = "De Sensi et al., SC 2025",
          .parameters = segment_parameters(),
          .rounding = by_rank_numbers,
          .recipe = bine};
}

} // namespace

Variant allreduce_swing::row() {
  using namespace cost;
  return swing_row({2 * log_P * alpha + 2 * (1 - 1 / P) * n / lanes * beta + (1 - 1 / P) * n * gamma,
                    powers_of_two && whole_messages});
}
Variant allgather_swing::row() {
  using namespace cost;
  return swing_row({(log_P + 1) * alpha + P * n / lanes * beta, powers_of_two && more_than_two && whole_messages});
}
Variant reduce_scatter_swing::row() {
  using namespace cost;
  return swing_row({(log_P + 1) * alpha + P * n / lanes * beta + (P - 1) * n * gamma,
                    powers_of_two && more_than_two && whole_messages});
}

Variant allreduce_bine::row() {
  using namespace cost;
  return bine_row(
      {2 * log_P * alpha + 2 * (1 - 1 / P) * n * beta + (1 - 1 / P) * n * gamma, powers_of_two && whole_messages});
}
Variant allgather_bine::row() {
  using namespace cost;
  return bine_row({(log_P + 1) * alpha + P * n * beta, powers_of_two && more_than_two && whole_messages});
}
Variant reduce_scatter_bine::row() {
  using namespace cost;
  return bine_row(
      {(log_P + 1) * alpha + P * n * beta + (P - 1) * n * gamma, powers_of_two && more_than_two && whole_messages});
}

} // namespace kumihimo
