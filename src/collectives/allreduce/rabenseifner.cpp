// rabenseifner: allreduce by recursive halving, then recursive doubling.
//
// Idea: in step k a rank exchanges half of what it still holds with the rank whose number differs in bit k
//   and keeps the reduced other half; after log2 P steps each holds one finished part, and the same
//   exchanges backwards gather them.
// Wins: long messages on networks with full bisection: 2 n beta in 2 log2 P steps. On a torus far partners
//   share links.
// Special cases: any number of ranks by folding; fewer elements than ranks leave empty parts, which send
//   nothing; the near partner takes the large half first, and rank order is kept.
// Reference: Rabenseifner, Optimization of collective reduction operations, ICCS 2004,
//   doi:10.1007/978-3-540-24685-5_1.
#include "collectives/patterns/fold_to_power_of_two.hpp"
#include "collectives/registry.hpp"
#include "program/builder.hpp"

namespace kumihimo::allreduce_rabenseifner {
namespace {

Program program_of(Rank rank, const Fold& fold) {
  ProgramBuilder program;
  LaneBuilder lane(LaneId{0}, "halving and doubling", 1);
  const std::int64_t m = fold.power;
  const std::int32_t partner = fold.partner(rank).value;
  if (fold.is_folded_away(rank)) {
    lane.step(send(partner, in[whole()]));
    lane.step(receive(partner, out[whole()]));
    program.add(std::move(lane));
    return program.finish();
  }
  if (fold.is_paired(rank)) lane.step(receive_reduce(partner, acc[whole()]));

  const std::int32_t me = fold.number(rank);
  const int steps = fold.steps();
  std::int64_t first = 0, held = m; // the parts that this rank still accumulates
  for (int k = 0; k < steps; ++k) {
    const bool upper = me >> k & 1;
    const std::int32_t peer = fold.rank(me ^ (1 << k)).value;
    held /= 2;
    const std::int64_t keep = upper ? first + held : first, give = upper ? first : first + held;
    lane.round(exchange(peer, acc[parts(give, held, m)], peer,
                        reduce_into(acc[parts(keep, held, m)], upper ? Arriving::left : Arriving::right)));
    first = keep;
  }
  for (int k = steps - 1; k >= 0; --k) {
    const bool upper = me >> k & 1;
    const std::int32_t peer = fold.rank(me ^ (1 << k)).value;
    const std::int64_t other = upper ? first - held : first + held;
    lane.round(exchange(peer, out[parts(first, held, m)], peer, into(out[parts(other, held, m)])));
    first = std::min(first, other);
    held *= 2;
  }
  if (fold.is_paired(rank)) lane.step(send(partner, out[whole()]));
  program.add(std::move(lane));
  return program.finish();
}

Result<Schedule> recipe(const Collective& c, const RankSpace&, const Parameters&) {
  Schedule s(c);
  s.claims.keeps_rank_order = true;
  s.program = [fold = Fold(c.ranks)](Rank r) { return program_of(r, fold); };
  return s;
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "recursive halving of the vector, then recursive doubling",
          .cost = {2 * log_P * alpha + 2 * (1 - 1 / P) * n * beta + (1 - 1 / P) * n * gamma, powers_of_two},
          .reference = "Rabenseifner, ICCS 2004",
          .rounding = by_rank_numbers,
          .reproducible = long_messages,
          .recipe = recipe};
}

} // namespace kumihimo::allreduce_rabenseifner
