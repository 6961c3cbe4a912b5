// long, long_modified: broadcasts that scatter the message over all ranks and pass its pieces round.
//
// Idea: the root cuts the message in a piece for each rank. A binomial tree scatters the pieces. Then each rank
//   exchanges pieces with the next rank and the one before by turns, until it has all: each piece travels both ways,
//   to half of the ranks on either side. Modified, the rank after the root gets the whole message first and takes no
//   further part.
// Wins: long messages where links are slow: no rank sends more than twice the message, whatever P. All ranks move at
//   the pace of the slowest.
// Special cases: any number of ranks. With an odd number the last rank is a step ahead of the first. Fewer elements
//   than ranks leave empty pieces, which send nothing.
// Reference: HPL's blong and blonM (A. Petitet, R. C. Whaley, J. Dongarra, A. Cleary, HPL 2.3, 2018;
//   HPL_bcast_blong.c, HPL_bcast_blonM.c); M. Barnett, S. Gupta, D. Payne, L. Shuler, R. van de Geijn, J. Watts,
//   Building a high-performance collective communication library, SC 1994.
#include "collectives/patterns/blocks.hpp"

#include <bit>

namespace kumihimo {
namespace {

// Ranks that take part: the root is number 0, the others follow in the order of ranks.
struct PieceHolders {
  std::int64_t ranks, root, skipped; // ranks after the root that take no part

  std::int64_t number() const { return ranks - skipped; }
  std::int64_t rank(std::int64_t u) const { return (root + (u == 0 ? 0 : u + skipped)) % ranks; }
};

// u holds the pieces of the numbers u to u + 2^k - 1, one k for each trailing zero.
void scatter_pieces(LaneBuilder& lane, const PieceHolders& of, std::int64_t u) {
  const std::int64_t m = of.number();
  const int levels =
      u == 0 ? std::bit_width(static_cast<std::uint64_t>(m - 1)) : std::countr_zero(static_cast<std::uint64_t>(u));
  const auto held = [m](std::int64_t first, int k) {
    return parts(first, std::min(std::int64_t{1} << k, m - first), m);
  };
  if (u != 0) lane.step(receive(of.rank(u & (u - 1)), out[held(u, levels)]));
  for (int k = levels - 1; k >= 0; --k)
    if (const std::int64_t child = u + (std::int64_t{1} << k); child < m)
      lane.step(send(of.rank(child), out[held(child, k)]));
}

// In round 2 l of even numbers with the next one, the pieces that came l rounds ago from the other side; then with the
// one before.
void pass_round(LaneBuilder& lane, const PieceHolders& of, std::int64_t u) {
  const std::int64_t m = of.number(), next = of.rank((u + 1) % m), before = of.rank((u + m - 1) % m);
  const auto piece = [m](Expression number) { return out[part(mod(std::move(number), m), m)]; };
  const auto with_next = [&](const Expression& l) {
    return exchange(next, piece(Expression(u + m) - l), next, into(piece(l + (u + 1))));
  };
  const auto with_before = [&](const Expression& l) {
    return exchange(before, piece(l + u), before, into(piece(Expression(u + m - 1) - l)));
  };
  const auto turn = [&](bool first, const Expression& l) {
    return (u % 2 == 0) == first ? with_next(l) : with_before(l);
  };
  lane.loop((m - 1) / 2, [&](BodyBuilder& body, Variable l) {
    body.round(turn(true, l));
    body.round(turn(false, l));
  });
  if (m % 2 == 0) lane.round(turn(true, m / 2 - 1));
}

auto write_long(bool relieves_next) {
  return [relieves_next](LaneBuilder& lane, const Collective& c, std::int64_t r) {
    const std::int64_t P = c.ranks, root = c.root.value, next = (root + 1) % P;
    const bool relieved = relieves_next && P > 1;
    if (relieved && r == root) lane.step(send(next, out[whole()]));
    if (relieved && r == next) {
      lane.step(receive(root, out[whole()]));
      return;
    }
    const PieceHolders of{P, root, relieved ? 1 : 0};
    if (of.number() == 1) return;
    const std::int64_t distance = floor_mod(r - root, P), u = distance == 0 ? 0 : distance - of.skipped;
    scatter_pieces(lane, of, u);
    pass_round(lane, of, u);
  };
}

Variant long_row(std::string summary, Cost cost, bool relieves_next) {
  return {.summary = std::move(summary),
          .cost = std::move(cost),
          .reference = "Petitet, Whaley, Dongarra, Cleary, HPL 2.3, 2018",
          .recipe = one_lane("pieces", write_long(relieves_next))};
}

} // namespace

Variant bcast_long::row() {
  using namespace cost;
  return long_row("scatters pieces over a binomial tree, then neighbours exchange them",
                  {(log_P + P - 1) * alpha + 2 * (1 - 1 / P) * n * beta, powers_of_two}, false);
}
Variant bcast_long_modified::row() {
  using namespace cost;
  const Condition one_more{"P - 1 is a power of two above 1", [](const CostCase& at) {
                             return at.space.ranks() > 2 &&
                                    std::has_single_bit(static_cast<std::uint32_t>(at.space.ranks() - 1));
                           }};
  return long_row("the next rank, then pieces scattered over the others and exchanged by neighbours",
                  {(floor_log_P + P - 1) * alpha + (3 - 2 / (P - 1)) * n * beta, one_more}, true);
}

} // namespace kumihimo
