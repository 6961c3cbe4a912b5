// ring: reduce-scatter round a ring of all ranks.
//
// Idea: the sum of rank b's block begins at rank b + 1 and is handed on to the right, every rank adding its operand,
//   until it ends at b. Only one block is under way at a rank, so two cells of scratch are all it takes.
// Wins: long vectors where neighbours in rank order are near: n beta whatever P; P - 1 steps cost latency.
// Special cases: any number of ranks, any counts; operands do not stay in rank order.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.2; Patarasuk, Yuan, JPDC 69(2), 2009.
#include "collectives/patterns/blocks.hpp"

namespace kumihimo::reduce_scatter_ring {
namespace {

void write(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks, right = (r + 1) % P, left = (r + P - 1) % P;
  const auto B = [&](const Expression& b) { return in_block(mod(b, P)); };
  const Array sums = program.scratch(Scratch{LaneId{0}, false, Layout::input_blocks, 1, 1, 2});
  const bool aside = c.in_place && c.counts.irregular();
  const Array result = own_sum(program, aside, r);
  const Chunk mine = result[aside ? in_block(r) : out_block(r)];
  if (P == 2) { // its one step may not write the output over an input that is being sent
    lane.round(exchange(right, in[B(r + 1)], left, into(sums.at(0, B(r)))));
    lane.step(reduce(mine, sums.at(0, B(r)), in[B(r)]));
    return;
  }
  const auto arriving = [&](const Expression& i, Chunk target) {
    return receive_reduce(-1, in[B(r - 2 - i)], std::move(target), Arriving::left);
  };
  lane.round(exchange(right, in[B(r - 1)], left, arriving(0, sums.at(0, B(r - 2)))));
  lane.loop(P - 3, [&](Variable i) {
    return exchange(right, sums.at(mod(i, 2), B(r - 2 - i)), left,
                    arriving(i + 1, sums.at(mod(i + 1, 2), B(r - 3 - i))));
  });
  lane.round(exchange(right, sums.at((P - 3) % 2, B(r + 1)), left, arriving(P - 2, mine)));
}

void claim(Schedule& s) { s.claims.in_place_safe = s.collective().in_place || !s.collective().counts.irregular(); }

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "partial sums of each block travel once around a ring of all ranks",
          .cost = {(P - 1) * (alpha + n * beta + n * gamma), whole_messages},
          .reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
          .parameters = segment_parameters(),
          .rounding = by_rank_numbers,
          .recipe = one_lane("ring", write, claim)};
}

} // namespace kumihimo::reduce_scatter_ring
