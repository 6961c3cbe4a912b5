// bruck: alltoall in ceil(log P) steps, blocks travelling by the digits of their distance.
//
// Idea: after a turn of the array slot j at rank r holds the block for r + j. For each digit of j, written to the base
//   `radix`, the slots with the digit d at the k-th place go d radix^k ranks further; the digits of one place are sent
//   at once. Then slot j holds the block from r - j, and a last turn puts it there.
// Wins: short blocks: radix 2 takes the fewest steps, larger ones move fewer bytes; radix P is a direct exchange.
// Special cases: any number of ranks; a radix above P is taken for P; equal counts alone, since a slot holds other
//   ranks' blocks in turn.
// Reference: Bruck, Ho, Kipnis, Upfal, Weathersby, IEEE TPDS 8(11), 1997, section 3.
#include "collectives/patterns/blocks.hpp"

#include <fmt/format.h>

namespace kumihimo::alltoall_bruck {
namespace {

// The slots whose digit at the place of `power` = radix^k is `digit`: regular runs, and a last one that is cut.
Extent slots(std::int64_t P, std::int64_t radix, std::int64_t power, std::int64_t digit) {
  const std::int64_t period = power * radix, first = digit * power;
  const std::int64_t whole = (P - first - power) < 0 ? 0 : (P - first - power) / period + 1;
  const std::int64_t cut_first = first + whole * period, cut = std::clamp<std::int64_t>(P - cut_first, 0, power);
  Extent e = blocks(Layout::output_blocks, first, power);
  e.runs[0].inner = {period, whole};
  if (whole == 0) e.runs.clear();
  if (cut > 0) e.runs.push_back({cut_first, cut, {}, {}});
  return e;
}

void write(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r, std::int64_t radix) {
  const std::int64_t P = c.ranks;
  const Array aside = program.scratch(Scratch{LaneId{0}, false, Layout::output_blocks, 1, P, 1});
  const Extent all = blocks(Layout::output_blocks, 0, P);
  const Extent turned = cyclic_blocks(Layout::input_blocks, r, P, P);
  if (c.in_place) {
    lane.step(copy(aside[all], in[turned]));
    lane.step(copy(out[all], aside[all]));
  } else {
    lane.step(copy(out[all], in[turned]));
  }
  for (std::int64_t power = 1; power < P; power *= radix) {
    std::vector<Step> moves, back;
    const std::int64_t digits = std::min(radix, (P - 1) / power + 1), most = (P + radix - 1) / radix + power;
    const Array arrived =
        program.scratch(Scratch{LaneId{0}, false, Layout::output_blocks, 1, std::min(most, P), digits - 1});
    for (std::int64_t d = 1; d < digits; ++d) {
      const Extent moved = slots(P, radix, power, d);
      moves.push_back(send((r + d * power) % P, out[moved]));
      moves.push_back(receive(floor_mod(r - d * power, P), arrived.at(d - 1, moved)));
      back.push_back(copy(out[moved], arrived.at(d - 1, moved)));
    }
    lane.round(std::move(moves));
    lane.round(std::move(back));
  }
  // Slot j to block r - j: downwards from r to 0, then from the last.
  Extent backwards = out_block(r);
  backwards.runs[0].inner = {-1, r + 1};
  if (r + 1 < P) backwards.runs.push_back({P - 1, 1, {-1, P - 1 - r}, {}});
  lane.step(copy(aside[all], out[all]));
  lane.step(copy(out[backwards], aside[all]));
}

Result<Schedule> recipe(const Collective& c, const RankSpace&, const Parameters& p) {
  const std::int64_t radix = std::min<std::int64_t>(p.radix.value(), c.ranks);
  Result<Schedule> s = one_lane(c, p, "bruck", [c, radix](ProgramBuilder& program, LaneBuilder& lane, std::int64_t r) {
    write(program, lane, c, r, radix);
  });
  if (s) s->parameters = fmt::format("radix={}", radix), s->claims.in_place_safe = c.in_place;
  return s;
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "one round per digit value of the distance between sender and receiver",
          .cost = {log_P * (alpha + P / 2 * n * beta),
                   {"P is a power of two, radix 2",
                    [](const CostCase& c) { return powers_of_two.holds(c) && c.parameters.radix == 2; }}},
          .reference = "Bruck et al., IEEE TPDS 8(11), 1997",
          .parameters = {{parameter::radix, 2}},
          .equal_counts = "all blocks must be equally long, because ranks relay blocks of other ranks",
          .recipe = recipe};
}

} // namespace kumihimo::alltoall_bruck
