// recursive_halving: reduce-scatter in log2 P exchanges of halves.
//
// Idea: in each step a rank keeps the half of its range of blocks in which its own lies, sends the other half to its
//   partner and adds what the partner sends; the farthest partner first, so that ranges stay contiguous.
// Wins: short and medium vectors of commutative operations: log2 P steps, and no more bytes than the ring.
// Special cases: any number of ranks by folding: of a folded pair the even rank gets the odd one's input and works for
//   both blocks. The farthest first, operands do not stay in rank order.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.2.
#include "collectives/patterns/blocks.hpp"
#include "collectives/patterns/fold_to_power_of_two.hpp"

namespace kumihimo::reduce_scatter_recursive_halving {
namespace {

void write(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const Fold fold(c.ranks);
  const Rank rank{static_cast<std::int32_t>(r)};
  // The blocks of the ranks that stay with numbers [first, last), and of those folded into them.
  const auto of = [&](std::int32_t first, std::int32_t last) {
    const std::int64_t begin = fold.rank(first).value, end = last == fold.power ? c.ranks : fold.rank(last).value;
    return blocks(Layout::input_blocks, begin, end - begin);
  };
  const std::int64_t partner = fold.partner(rank).value;
  if (fold.is_folded_away(rank)) {
    lane.step(send(partner, in[of(0, fold.power)]));
    lane.step(receive(partner, out[out_block(r)]));
    return;
  }
  const std::int32_t me = fold.number(rank);
  const Array scratch = program.named_blocks(LaneId{0}, Layout::input_blocks, 0, c.ranks), sum = accumulate_in(scratch);
  if (fold.is_paired(rank)) lane.step(receive_reduce(partner, sum[of(0, fold.power)]));
  for (std::int32_t size = fold.power / 2; size > 0; size /= 2) {
    const std::int32_t mine = me / size * size, theirs = mine ^ size;
    const std::int64_t peer = fold.rank(me ^ size).value;
    // The lower rank's operand is the left one, at both.
    const Arriving side = (me & size) != 0 ? Arriving::left : Arriving::right;
    lane.round(exchange(peer, sum[of(theirs, theirs + size)], peer, reduce_into(sum[of(mine, mine + size)], side)));
  }
  if (fold.is_paired(rank)) lane.step(send(partner, scratch[in_block(partner)]));
  lane.step(copy(out[out_block(r)], scratch[in_block(r)]));
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "halves of the range exchanged with partners at distance P/2, P/4, ...",
          .cost = {log_P * alpha + (P - 1) * (n * beta + n * gamma), powers_of_two},
          .reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
          .rounding = by_rank_numbers,
          .reproducible = short_messages,
          .recipe = one_lane("halving", write)};
}

} // namespace kumihimo::reduce_scatter_recursive_halving
