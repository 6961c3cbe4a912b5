// recursive_doubling: allgather in log2 P exchanges, the nearest partner first.
//
// Idea: in step k every rank exchanges all that it holds with the rank whose number differs in bit k, so that what it
//   holds doubles and stays one range of blocks. On a torus whose lengths are powers of two the numbers' bits are the
//   axes' bits, last axis first: this is the rival of `non_minimal`, nearest first axis by axis.
// Wins: short blocks. On a torus the last, longest messages go farthest: 5/24 n P^(4/3) beta on a cube.
// Special cases: any number of ranks by folding: a folded pair holds two blocks that lie side by side.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.1; Sack, Gropp, PPoPP 2012, section 3.
#include "collectives/patterns/blocks.hpp"
#include "collectives/patterns/fold_to_power_of_two.hpp"

namespace kumihimo::allgather_recursive_doubling {
namespace {

void write(LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const Fold fold(c.ranks);
  const Rank rank{static_cast<std::int32_t>(r)};
  // The blocks of the ranks that stay with numbers [first, last), and of those folded into them.
  const auto held = [&](std::int32_t first, std::int32_t last) {
    const std::int64_t begin = fold.rank(first).value, end = last == fold.power ? c.ranks : fold.rank(last).value;
    return out[blocks(Layout::output_blocks, begin, end - begin)];
  };
  place_own_block(lane, c, r);
  const std::int64_t partner = fold.partner(rank).value;
  if (fold.is_folded_away(rank)) {
    lane.step(send(partner, out[out_block(r)]));
    lane.step(receive(partner, held(0, fold.power)));
    return;
  }
  if (fold.is_paired(rank)) lane.step(receive(partner, out[out_block(partner)]));
  const std::int32_t me = fold.number(rank);
  for (int k = 0; k < fold.steps(); ++k) {
    const std::int32_t size = 1 << k, mine = me / size * size, theirs = mine ^ size;
    const std::int64_t peer = fold.rank(me ^ size).value;
    lane.round(exchange(peer, held(mine, mine + size), peer, into(held(theirs, theirs + size))));
  }
  if (fold.is_paired(rank)) lane.step(send(partner, held(0, fold.power)));
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "ranks exchange all blocks that they hold with partners at distance 1, 2, 4, ...",
          .cost = {ceil_log_P * alpha + (P - 1) * n * beta, powers_of_two},
          .reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005",
          .recipe = one_lane("exchange", write)};
}

} // namespace kumihimo::allgather_recursive_doubling
