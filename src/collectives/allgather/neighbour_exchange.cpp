// neighbour_exchange: allgather among an even number of ranks, with the two neighbours in turn.
//
// Idea: pairs (0,1), (2,3), ... exchange their blocks; then every rank exchanges, with its other neighbour and its
//   first one in turn, the pair of blocks that it received last.
// Wins: long blocks, P/2 steps of two blocks with two neighbours alone, where the ring takes P - 1.
// Special cases: even numbers of ranks only.
// Reference: Chen, Zhang, Zhang, Yuan, Performance evaluation of allgather algorithms on terascale Linux cluster with
//   fast Ethernet, HPC-Asia 2005.
#include "collectives/patterns/blocks.hpp"

#include <fmt/format.h>

namespace kumihimo::allgather_neighbour_exchange {
namespace {

void write(LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks, pairs = P / 2, mine = r / 2;
  const std::int64_t way = r % 2 == 0 ? -1 : 1; // towards the other neighbour
  const std::int64_t first = r - way, other = (r + way + P) % P;
  const auto pair = [&](const Expression& k) {
    return out[blocks(Layout::output_blocks, mod(mine + k, pairs) * 2, 2)]; // counted from ours
  };
  const auto with_other = [&](const Expression& j) {
    return exchange(other, pair(-way * j), other, into(pair(way * (j + 1))));
  };
  place_own_block(lane, c, r);
  lane.round(exchange(first, out[out_block(r)], first, into(out[out_block(first)])));
  lane.loop((pairs - 1) / 2, [&](BodyBuilder& both, Variable j) {
    both.round(with_other(j));
    both.round(exchange(first, pair(way * (j + 1)), first, into(pair(-way * (j + 1)))));
  });
  if (pairs % 2 == 0) lane.round(with_other((pairs - 2) / 2));
}

Result<Schedule> recipe(const Collective& c, const RankSpace& space, const Parameters& p) {
  if (c.ranks % 2 != 0)
    return not_applicable("the algorithm pairs the ranks and needs an even number of them", c.ranks);
  return one_lane("neighbours", write)(c, space, p);
}

} // namespace

Variant row() {
  using namespace cost;
  return {.summary = "pairs of blocks exchanged with the two neighbours in turn",
          .cost = {P / 2 * alpha + (P - 1) * n * beta, even_ranks},
          .reference = "Chen, Zhang, Zhang, Yuan, HPC-Asia 2005",
          .recipe = recipe};
}

} // namespace kumihimo::allgather_neighbour_exchange
