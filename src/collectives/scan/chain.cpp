// chain: scan and exscan from rank to rank.
//
// Idea: every rank gets the sum of all before it from its left, adds its own operand and hands the sum on; cut in
//   segments, all ranks work at the same time.
// Wins: long vectors in many segments: n beta whatever P. P - 1 steps cost latency.
// Cost: (P - 1 + S - 1) (alpha + n/S beta + n/S gamma) in S segments.
// Special cases: any number of ranks; rank order is kept.
// Reference: folklore; Sanders, Träff, Parallel prefix (scan) algorithms for MPI, EuroPVM/MPI 2006 (pipelined).
#include "collectives/patterns/blocks.hpp"

namespace kumihimo {
namespace {

void write(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const bool last = r + 1 == c.ranks;
  if (c.kind == CollectiveKind::scan) {
    if (r > 0) lane.step(receive_reduce(r - 1, in[whole()], out[whole()], Arriving::left));
    if (r == 0 && !c.aliased(Rank{0})) lane.step(copy(out[whole()], in[whole()]));
    if (!last) lane.step(send(r + 1, out[whole()]));
    return;
  }
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

Rows scan_chain_rows() {
  Variant v;
  v.name = "chain";
  v.summary = "the sum of all before handed on from rank to rank";
  v.cost = "(P + S - 2)(α + nβ/S + nγ/S), S segments";
  v.reference = "Sanders, Träff, EuroPVM/MPI 2006";
  v.parameters = {{"segment_bytes", "the whole vector", "bytes of one step"}, {"window", "2", "segments in flight"}};
  v.rounding.same_on_all_ranks = false; // each rank has a result of its own
  v.rounding.independent_of_placement = true;
  v.recipe = [](const Collective& c, const RankSpace&, const Parameters& p) -> Result<Schedule> {
    Result<Schedule> s = one_lane(
        c, p, "chain", [c](ProgramBuilder& program, LaneBuilder& lane, std::int64_t r) { write(program, lane, c, r); });
    if (s) s->claims.keeps_rank_order = true;
    return s;
  };
  return rows_for({CollectiveKind::scan, CollectiveKind::exscan}, v);
}

} // namespace kumihimo
