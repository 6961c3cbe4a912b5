// chain_modified, two_chains, two_chains_modified: broadcasts along chains, which the root serves one after the other.
//
// Idea: the rank after the root gets the message first. Modified, it passes nothing on, and the chain begins with the
//   rank after it. With two chains the root sends to the head of the second one last: it is rank ⌈P/2⌉ after the root.
// Wins: panels of a factorisation with look-ahead, whose next owner is the rank after the root: it has its panel
//   early, and modified no messages of others. Two chains halve the number of relays.
// Special cases: any number of ranks. Up to 3 all are sends of the root. The whole message at once unless segments
//   are asked for.
// Reference: HPL's 1ringM, 2ring and 2ringM (A. Petitet, R. C. Whaley, J. Dongarra, A. Cleary, HPL 2.3, 2018;
//   HPL_bcast_1rinM.c, HPL_bcast_2ring.c, HPL_bcast_2rinM.c); its 1ring is `chain`.
#include "collectives/patterns/trees/tree.hpp"

#include <algorithm>

namespace kumihimo {
namespace {

struct ChainForm {
  bool two = false;           // chains
  bool relieves_next = false; // the rank after the root passes nothing on
};

// Distances from the root at which chains begin, and the number of ranks.
std::vector<std::int32_t> begins_of_chains(std::int32_t ranks, ChainForm form) {
  std::vector<std::int32_t> begins{1};
  if (form.relieves_next && ranks > 2) begins.push_back(2);
  if (const std::int32_t middle = (ranks + 1) / 2; form.two && middle > begins.back()) begins.push_back(middle);
  begins.push_back(ranks);
  return begins;
}

TreePlace place_in_chains(std::int32_t ranks, Rank root, ChainForm form, Rank rank) {
  const auto absolute = [&](std::int32_t v) { return Rank{(v + root.value) % ranks}; };
  const std::vector<std::int32_t> begins = begins_of_chains(ranks, form);
  const std::int32_t v = (rank.value - root.value + ranks) % ranks;
  TreePlace place;
  if (v == 0) { // the last to be served comes first
    for (std::size_t k = begins.size() - 1; k-- > 0;)
      place.children.push_back({absolute(begins[k]), begins[k + 1] - begins[k] - 1, false});
    return place;
  }
  const auto next = std::upper_bound(begins.begin(), begins.end(), v);
  place.parent = v == *(next - 1) ? root : absolute(v - 1);
  if (v + 1 < *next) place.children.push_back({absolute(v + 1), *next - v - 2, false});
  return place;
}

Variant chains_row(std::string summary, Cost cost, ChainForm form) {
  return {.summary = std::move(summary),
          .cost = std::move(cost),
          .reference = "Petitet, Whaley, Dongarra, Cleary, HPL 2.3, 2018",
          .parameters = tree_parameters("the whole message"),
          .recipe = [form](const Collective& c, const RankSpace&, const Parameters& p) -> Result<Schedule> {
            const Segments segments = TRY(choose_segments(c, p, 1, Pipelining::whole_message));
            TreeOptions o{false, p.window.value(), segments, {}, SendOrder::in_turn};
            const std::vector<std::int32_t> begins = begins_of_chains(c.ranks, form);
            for (std::size_t k = 0; k + 1 < begins.size(); ++k)
              o.claims.height = std::max<std::int64_t>(o.claims.height, begins[k + 1] - begins[k]);
            return tree_schedule(c,
                                 {1, [=, ranks = c.ranks, root = c.root](
                                         std::int64_t, Rank r) { return place_in_chains(ranks, root, form, r); }},
                                 o);
          }};
}

// Where no chain is empty.
const Condition& at_least_six() {
  static const Condition six{"P > 5", [](const CostCase& at) { return at.space.ranks() > 5; }};
  return six;
}

} // namespace

Variant bcast_chain_modified::row() {
  using namespace cost;
  return chains_row("the next rank, then a pipeline through the others in rank order",
                    {(P - 1) * (alpha + n * beta), whole_messages}, {.relieves_next = true});
}
Variant bcast_two_chains::row() {
  using namespace cost;
  return chains_row("two pipelines in rank order, each through half of the ranks",
                    {(P / 2 + 1) * (alpha + n * beta), even_ranks && more_than_two && whole_messages}, {.two = true});
}
Variant bcast_two_chains_modified::row() {
  using namespace cost;
  return chains_row("the next rank, then two pipelines through the others in rank order",
                    {(P / 2 + 2) * (alpha + n * beta), even_ranks && at_least_six() && whole_messages},
                    {.two = true, .relieves_next = true});
}

} // namespace kumihimo
