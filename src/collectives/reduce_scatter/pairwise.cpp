// pairwise: reduce-scatter by direct exchange, every pair of ranks meeting once.
//
// Idea: in step i rank r sends its operand of block r + i to its owner and takes that of its own block from r - i.
// Wins: a few ranks that are equally near; commutative operations on any number of ranks. P (P - 1) messages.
// Special cases: any number of ranks, any counts; a block's operands are summed from its owner backwards.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.2.
#include "collectives/patterns/blocks.hpp"

namespace kumihimo::reduce_scatter_pairwise {

namespace {

Result<Schedule> recipe(const Collective& c, const RankSpace&, const Parameters& p) {
  Result<Schedule> s =
      one_lane(c, p, "pairwise exchange", [c](ProgramBuilder& program, LaneBuilder& lane, std::int64_t r) {
        const std::int64_t P = c.ranks;
        const Array sum = c.in_place ? accumulate_in(own_sum(program, true, r)) : acc;
        lane.loop(P - 1, [&](Variable i) {
          const Expression to = mod(r + 1 + i, P), from = mod(r - 1 - i, P);
          return exchange(to, in[in_block(to)], from, reduce_into(sum[in_block(r)]));
        });
      });
  if (s) s->claims.in_place_safe = c.in_place;
  return s;
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "every pair of ranks exchanges operands directly",
          .cost = {(P - 1) * (alpha + n * beta + n * gamma), whole_messages},
          .reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
          .parameters = segment_parameters(),
          .rounding = by_rank_numbers,
          .recipe = recipe};
}

} // namespace kumihimo::reduce_scatter_pairwise
