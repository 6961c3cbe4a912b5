// chain: scan from rank to rank.
//
// Idea: every rank gets the sum of all before it from its left, adds its own operand and hands the sum on; cut in
//   segments, all ranks work at the same time.
// Wins: long vectors in many segments: n beta whatever P. P - 1 steps cost latency.
// Special cases: any number of ranks; rank order is kept.
// Reference: folklore; Sanders, Träff, Parallel prefix (scan) algorithms for MPI, EuroPVM/MPI 2006 (pipelined).
#include "collectives/patterns/blocks.hpp"

namespace kumihimo::scan_chain {
namespace {

void write(LaneBuilder& lane, const Collective& c, std::int64_t r) {
  if (r > 0) lane.step(receive_reduce(r - 1, in[whole()], out[whole()], Arriving::left));
  if (r == 0 && !c.aliased(Rank{0})) lane.step(copy(out[whole()], in[whole()]));
  if (r + 1 < c.ranks) lane.step(send(r + 1, out[whole()]));
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "each rank sends its prefix sum to the next rank",
          .cost = {(P + S - 2) * (alpha + n / S * beta) + (P - 1) * n / S * gamma},
          .reference = "Sanders, Träff, EuroPVM/MPI 2006",
          .parameters = segment_parameters("the whole vector"),
          .rounding = of_prefixes,
          .recipe = one_lane("chain", write, in_rank_order)};
}

} // namespace kumihimo::scan_chain
