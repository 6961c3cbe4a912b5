// pairwise: allreduce by direct exchange, a reduce-scatter and an allgather in which every pair of ranks meets once.
//
// Idea: rank r sums part r. In step i it sends part r + i to its owner and takes its own part's operand
//   from rank r - i; afterwards everyone sends its finished part to everyone. Each byte crosses once each
//   way, with no relays.
// Wins: a few ranks on one node or behind one switch, where all pairs are equally near: every step is a
//   direct copy between two ranks, and the second half needs no waiting at all. Loses on a torus and on
//   many ranks: P (P - 1) messages.
// Special cases: any number of ranks up to 512; a part's operands are summed from its owner backwards, not
//   in rank order.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.2 (pairwise exchange).
#include "collectives/patterns/blocks.hpp"
#include "program/builder.hpp"

#include <fmt/format.h>

namespace kumihimo::allreduce_pairwise {
namespace {

constexpr std::int32_t most_ranks = 512; // P^2 messages

Program program_of(Rank rank, std::int32_t P, Segments segments, std::int64_t window) {
  const std::int64_t r = rank.value;
  const auto at = [P](Expression i) { return mod(std::move(i), P); };
  const auto B = [P](Expression i) { return part(std::move(i), P); };
  ProgramBuilder program(segments);
  LaneBuilder lane(LaneId{0}, "pairwise exchange", window);
  lane.loop(P - 1, [&](Variable i) {
    return exchange(at(r + 1 + i), in[B(at(r + 1 + i))], at(r - 1 - i), reduce_into(acc[B(r)]));
  });
  lane.loop(
      P - 1, [&](Variable i) { return exchange(at(r + 1 + i), out[B(r)], at(r - 1 - i), into(out[B(at(r - 1 - i))])); },
      P - 1);
  program.add(std::move(lane));
  return program.finish();
}

Result<Schedule> recipe(const Collective& c, const RankSpace&, const Parameters& p) {
  if (c.ranks > most_ranks)
    return not_applicable(fmt::format("the algorithm sends P² messages and is meant for at most {} ranks", most_ranks),
                          c.ranks);
  const Segments segments = TRY(choose_segments(c, p, c.ranks, Pipelining::whole_message));
  const std::int64_t window = p.window.value();
  Schedule s(c);
  s.segments = segments;
  s.parameters = fmt::format("segments={} window={}", segments.count, window);
  s.claims.in_place_safe = true; // a part is sent away before its owner's result comes back, within the loops' order
  s.program = [P = c.ranks, segments, window](Rank r) { return program_of(r, P, segments, window); };
  return s;
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "every pair of ranks exchanges parts directly, then results",
          .cost = {(P - 1) * alpha + (1 - 1 / P) * n * (beta + gamma) +
                       max((P - 1) * alpha, alpha + (1 - 1 / P) * n * beta),
                   whole_messages},
          .reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
          .parameters = segment_parameters("one part of the vector"),
          .extension = true,
          .rounding = by_rank_numbers,
          .recipe = recipe};
}

} // namespace kumihimo::allreduce_pairwise
