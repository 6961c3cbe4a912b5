// recursive_doubling: scan in ceil(log2 P) steps.
//
// Idea: in step k every rank sends the sum of the 2^k operands up to its own to the rank 2^k after it, and puts what
//   comes from the rank 2^k before it to the left of its own.
// Wins: short vectors: log2 P steps, where the chain takes P - 1.
// Special cases: any number of ranks; rank order is kept. Sums move between cells of scratch and reach the output with
//   the last one.
// Reference: Hillis, Steele, Data parallel algorithms, CACM 29(12), 1986; Kogge, Stone, IEEE TC C-22(8), 1973.
#include "collectives/patterns/prefix_doubling.hpp"

namespace kumihimo::scan_recursive_doubling {
namespace {

void write(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks;
  const Array cells = program.scratch(LaneId{0}, 1, 1, 2);
  // Rank 0 has its result, and in place it is there.
  if (r == 0 && c.in_place) {
    for (std::int64_t distance = 1; distance < P; distance *= 2) lane.step(send(distance, in[whole()]));
    return;
  }
  double_prefixes(lane, cells, in[whole()], 0, P, r);
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "partial sums of 1, 2, 4, ... operands are sent 1, 2, 4, ... ranks further",
          .cost = {ceil_log_P * (alpha + n * beta + n * gamma)},
          .reference = "Hillis, Steele, CACM 29(12), 1986",
          .rounding = of_prefixes,
          .reproducible = SizeRange{},
          .recipe = one_lane("doubling", write, in_rank_order)};
}

} // namespace kumihimo::scan_recursive_doubling
