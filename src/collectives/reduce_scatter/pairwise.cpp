// pairwise: reduce-scatter by direct exchange, every pair of ranks meeting once.
//
// Idea: in step i rank r sends its operand of block r + i to its owner and takes that of its own block from r - i.
// Wins: a few ranks that are equally near; commutative operations on any number of ranks. P (P - 1) messages.
// Special cases: any number of ranks, any counts; a block's operands are summed from its owner backwards.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.2.
#include "collectives/patterns/blocks.hpp"

namespace kumihimo::reduce_scatter_pairwise {
namespace {

void write(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks;
  const Array sum = c.in_place ? accumulate_in(own_sum(program, true, r)) : acc;
  lane.loop(P - 1, [&](Variable i) {
    const Expression to = mod(r + 1 + i, P), from = mod(r - 1 - i, P);
    return exchange(to, in[in_block(to)], from, reduce_into(sum[in_block(r)]));
  });
}

void claim(Schedule& s) { s.claims.in_place_safe = s.collective().in_place; }

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "every pair of ranks exchanges operands directly",
          .cost = {(P - 1) * (alpha + n * beta + n * gamma), whole_messages},
          .reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
          .parameters = segment_parameters(),
          .rounding = by_rank_numbers,
          .reproducible = long_messages,
          .recipe = one_lane("pairwise exchange", write, claim)};
}

} // namespace kumihimo::reduce_scatter_pairwise
