// ring: allreduce as a reduce-scatter and an allgather round a ring of all ranks.
//
// Idea: the vector is cut in P parts; each travels once round the ring collecting every rank's operand,
//   and once more as the result. Every rank sends to its right and receives from its left in all steps.
// Wins: long messages where neighbours in rank order are near each other: 2 n beta whatever P; P - 1 steps
//   cost latency.
// Special cases: any number of ranks; each part is summed along the ring from its own starting rank, so
//   that operands do not stay in rank order. Unsegmented unless segments are asked for.
// Reference: Patarasuk, Yuan, Bandwidth optimal all-reduce algorithms for clusters of workstations, JPDC
//   69(2), 2009.
#include "collectives/patterns/blocks.hpp"
#include "program/builder.hpp"

#include <fmt/format.h>

namespace kumihimo::allreduce_ring {
namespace {

Program program_of(Rank rank, std::int32_t P, Segments segments, std::int64_t window) {
  const std::int64_t r = rank.value, right = (r + 1) % P, left = (r + P - 1) % P;
  const auto B = [P](Expression i) { return part(mod(std::move(i), P), P); };
  ProgramBuilder program(segments);
  LaneBuilder lane(LaneId{0}, "ring", window);
  lane.loop(P - 1, [&](Variable i) { return exchange(right, acc[B(r - i)], left, reduce_into(acc[B(r - i - 1)])); });
  lane.loop(P - 1, [&](Variable i) { return exchange(right, out[B(r + 1 - i)], left, into(out[B(r - i)])); });
  program.add(std::move(lane));
  return program.finish();
}

Result<Schedule> recipe(const Collective& c, const RankSpace&, const Parameters& p) {
  const Segments segments = TRY(choose_segments(c, p, c.ranks, Pipelining::whole_message));
  const std::int64_t window = p.window.value();
  Schedule s(c);
  s.segments = segments;
  s.parameters = fmt::format("segments={} window={}", segments.count, window);
  s.program = [P = c.ranks, segments, window](Rank r) { return program_of(r, P, segments, window); };
  return s;
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "reduce-scatter and allgather round one ring of all ranks",
          .cost = {2 * (P - 1) * alpha + 2 * (1 - 1 / P) * n * beta + (1 - 1 / P) * n * gamma, whole_messages},
          .reference = "Patarasuk, Yuan, JPDC 69(2), 2009",
          .parameters = segment_parameters("one part of the vector"),
          .rounding = by_rank_numbers,
          .recipe = recipe};
}

} // namespace kumihimo::allreduce_ring
