// chain: exscan from rank to rank.
//
// Idea: every rank gets the sum of all before it from its left, adds its own operand and hands the sum on; cut in
//   segments, all ranks work at the same time.
// Wins: long vectors in many segments: n beta whatever P. P - 1 steps cost latency.
// Special cases: any number of ranks; rank order is kept.
// Reference: folklore; Sanders, Träff, Parallel prefix (scan) algorithms for MPI, EuroPVM/MPI 2006 (pipelined).
#include "collectives/patterns/blocks.hpp"

namespace kumihimo::exscan_chain {
namespace {

void write(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const bool last = r + 1 == c.ranks;
  if (r == 0) return last ? void() : lane.step(send(r + 1, in[whole()]));
  const Array before = program.scratch(LaneId{0}, 1, 1), sum = program.scratch(LaneId{0}, 1, 1);
  lane.step(receive(r - 1, before[whole()]));
  if (!last) {
    lane.step(reduce(sum[whole()], before[whole()], in[whole()]));
    lane.step(send(r + 1, sum[whole()]));
  }
  lane.step(copy(out[whole()], before[whole()]));
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "each rank sends its prefix sum to the next rank",
          .cost = {(P + S - 2) * (alpha + n / S * beta) + (P - 2) * n / S * gamma},
          .reference = "Sanders, Träff, EuroPVM/MPI 2006",
          .parameters = segment_parameters("the whole vector"),
          .rounding = of_prefixes,
          .recipe = one_lane("chain", write, in_rank_order)};
}

} // namespace kumihimo::exscan_chain
