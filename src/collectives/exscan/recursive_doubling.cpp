// recursive_doubling: exscan in ceil(log2 P) steps.
//
// Idea: in step k every rank sends the sum of the 2^k operands up to its own to the rank 2^k after it, and puts what
//   comes from the rank 2^k before it to the left of its own. First every operand is handed to the next rank: the rest
//   is the scan of what came.
// Wins: short vectors: log2 P steps, where the chain takes P - 1.
// Special cases: any number of ranks; rank order is kept. Sums move between cells of scratch and reach the output with
//   the last one.
// Reference: Hillis, Steele, Data parallel algorithms, CACM 29(12), 1986; Kogge, Stone, IEEE TC C-22(8), 1973.
#include "collectives/patterns/prefix_doubling.hpp"

#include <cmath>

namespace kumihimo::exscan_recursive_doubling {
namespace {

void write(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks;
  const Array cells = program.scratch(LaneId{0}, 1, 1, 2);
  const Array shifted = program.scratch(LaneId{0}, 1, 1);
  std::vector<Step> first;
  if (r + 1 < P) first.push_back(send(r + 1, in[whole()]));
  if (r > 0) first.push_back(receive(r - 1, shifted[whole()]));
  lane.round(std::move(first));
  if (r > 0) double_prefixes(lane, cells, shifted[whole()], 1, P, r);
}

const Formula steps("⌈log₂(P - 1)⌉", [](const CostCase& c) { return std::ceil(std::log2(c.collective.ranks - 1)); });

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "partial sums of 1, 2, 4, ... operands are sent 1, 2, 4, ... ranks further",
          .cost = {alpha + n * beta + steps * (alpha + n * beta + n * gamma)},
          .reference = "Hillis, Steele, CACM 29(12), 1986",
          .rounding = of_prefixes,
          .reproducible = SizeRange{},
          .recipe = one_lane("doubling", write, in_rank_order)};
}

} // namespace kumihimo::exscan_recursive_doubling
