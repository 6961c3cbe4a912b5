// recursive_doubling: scan and exscan in ceil(log2 P) steps.
//
// Idea: in step k every rank sends the sum of the 2^k operands up to its own to the rank 2^k after it, and puts what
//   comes from the rank 2^k before it to the left of its own. An exscan first hands every operand to the next rank, and
//   is then the scan of what came.
// Wins: short vectors: log2 P steps, where the chain takes P - 1.
// Cost: ceil(log2 P) (alpha + n beta + n gamma); exscan one step more.
// Special cases: any number of ranks; rank order is kept. Sums move between cells of scratch and reach the output with
//   the last one.
// Reference: Hillis, Steele, Data parallel algorithms, CACM 29(12), 1986; Kogge, Stone, IEEE TC C-22(8), 1973.
#include "collectives/patterns/blocks.hpp"

namespace kumihimo {
namespace {

// The scan over ranks first .. P - 1, of what `sum` holds at this one.
void scan(LaneBuilder& lane, const Array& cells, Chunk sum, std::int64_t first, std::int64_t P, std::int64_t r) {
  int cell = 0;
  for (std::int64_t distance = 1; distance < P - first; distance *= 2) {
    const bool sends = r + distance < P, receives = r - distance >= first, last = r - 2 * distance < first;
    if (sends) {
      if (!receives) {
        lane.step(send(r + distance, sum));
        continue;
      }
      // Not the output yet: what is sent may be the input, and both one memory.
      const Chunk next = cells.at(cell = 1 - cell, whole());
      lane.round({send(r + distance, sum), receive_reduce(r - distance, sum, next, Arriving::left)});
      sum = next;
    } else if (receives) {
      const Chunk next = last ? out[whole()] : cells.at(cell = 1 - cell, whole());
      lane.step(receive_reduce(r - distance, sum, next, Arriving::left));
      sum = next;
    }
  }
  if (!(sum == out[whole()])) lane.step(copy(out[whole()], sum));
}

void write(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks;
  const Array cells = program.scratch(LaneId{0}, 1, 1, 2);
  if (c.kind == CollectiveKind::exscan) {
    const Array shifted = program.scratch(LaneId{0}, 1, 1);
    std::vector<Step> first;
    if (r + 1 < P) first.push_back(send(r + 1, in[whole()]));
    if (r > 0) first.push_back(receive(r - 1, shifted[whole()]));
    lane.round(std::move(first));
    if (r > 0) scan(lane, cells, shifted[whole()], 1, P, r);
    return;
  }
  // Rank 0 has its result, and in place it is there.
  if (r == 0 && c.in_place) {
    for (std::int64_t distance = 1; distance < P; distance *= 2) lane.step(send(distance, in[whole()]));
    return;
  }
  scan(lane, cells, in[whole()], 0, P, r);
}

} // namespace

Rows scan_recursive_doubling_rows() {
  Variant v;
  v.name = "recursive_doubling";
  v.summary = "sums of 1, 2, 4, ... operands sent as many ranks further";
  v.cost = "⌈log₂P⌉(α + nβ + nγ), exscan one step more";
  v.reference = "Hillis, Steele, CACM 29(12), 1986";
  v.rounding.same_on_all_ranks = false; // each rank has a result of its own
  v.rounding.independent_of_placement = true;
  v.recipe = [](const Collective& c, const RankSpace&, const Parameters& p) -> Result<Schedule> {
    Result<Schedule> s = one_lane(c, p, "doubling", [c](ProgramBuilder& program, LaneBuilder& lane, std::int64_t r) {
      write(program, lane, c, r);
    });
    if (s) s->claims.keeps_rank_order = true;
    return s;
  };
  return rows_for({CollectiveKind::scan, CollectiveKind::exscan}, v);
}

} // namespace kumihimo
