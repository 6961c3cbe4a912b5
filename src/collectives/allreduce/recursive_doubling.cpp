// recursive_doubling: allreduce for short messages.
//
// Idea: in step k every rank exchanges its whole partial sum with the rank whose number differs in bit k;
//   after log2 P steps all hold the sum of all. The lower rank's operand is always the left one, so that
//   both compute the same bits.
// Wins: short messages, where the number of steps decides: log2 P against 2h of a tree.
// Special cases: any number of ranks by folding; rank order is kept. The sum moves between scratch cells
//   and reaches the output in the last step, since a step sends what it must not yet overwrite.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.3.
#include "collectives/patterns/fold_to_power_of_two.hpp"
#include "collectives/registry.hpp"
#include "program/builder.hpp"

namespace kumihimo::allreduce_recursive_doubling {
namespace {

Program program_of(Rank rank, const Fold& fold, bool in_place) {
  ProgramBuilder program;
  const LaneId id{0};
  LaneBuilder lane(id, "exchange", 1);
  const std::int32_t partner = fold.partner(rank).value;
  if (fold.is_folded_away(rank)) {
    lane.step(send(partner, in[whole()]));
    lane.step(receive(partner, out[whole()]));
    program.add(std::move(lane));
    return program.finish();
  }

  const int steps = fold.steps();
  const Array scratch = program.scratch(id, 1, 1, 2);
  const auto cell = [&](int step) { return scratch.at((step + 2) % 2, whole()); };
  Chunk sum = in[whole()];
  if (fold.is_paired(rank)) {
    const Chunk target = steps == 0 ? out[whole()] : cell(-1);
    lane.step(receive_reduce(partner, sum, target));
    sum = target;
  }
  for (int k = 0; k < steps; ++k) {
    const std::int32_t me = fold.number(rank), peer = fold.rank(me ^ (1 << k)).value;
    const Arriving side = me >> k & 1 ? Arriving::left : Arriving::right;
    if (in_place && k == steps - 1 && sum.buffer.kind == Buffer::Kind::input) {
      // One step in place: the sum may not be written where the input is still being sent from.
      lane.round(exchange(peer, sum, peer, into(cell(k))));
      lane.step(side == Arriving::left ? reduce(out[whole()], cell(k), sum) : reduce(out[whole()], sum, cell(k)));
      break;
    }
    const Chunk target = k == steps - 1 ? out[whole()] : cell(k);
    lane.round({send(peer, sum), receive_reduce(peer, sum, target, side)});
    sum = target;
  }
  if (fold.is_paired(rank)) lane.step(send(partner, out[whole()]));
  program.add(std::move(lane));
  return program.finish();
}

Result<Schedule> recipe(const Collective& c, const RankSpace&, const Parameters&) {
  Schedule s(c);
  s.claims.keeps_rank_order = true;
  // One step alone, of 2 or 3 ranks, writes the output while the input is being sent.
  s.claims.in_place_safe = c.in_place || Fold(c.ranks).steps() != 1;
  s.program = [fold = Fold(c.ranks), in_place = c.in_place](Rank r) { return program_of(r, fold, in_place); };
  return s;
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "whole vectors exchanged with partners at distance 1, 2, 4, ...",
          .cost = {log_P * (alpha + n * beta + n * gamma), powers_of_two},
          .reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
          .rounding = by_rank_numbers,
          .reproducible = short_messages,
          .recipe = recipe};
}

} // namespace kumihimo::allreduce_recursive_doubling
