// binomial: gather and scatter over a binomial tree.
//
// Idea: relative to the root, the subtree of rank v holds v .. v + 2^k - 1, so that its blocks are one range and one
//   message: gathered towards the root in the order of growing subtrees, scattered in the reverse order.
// Wins: short blocks: ceil(log2 P) messages at the root instead of P - 1.
// Cost: ceil(log2 P) alpha + (P - 1) n beta for n bytes a rank.
// Special cases: any number of ranks and any root; equal counts alone, since a relay must know those of its subtree.
// Reference: Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005, section 4.
#include "collectives/blocks.hpp"

#include <bit>

namespace kumihimo {
namespace {

void write(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r) {
  const std::int64_t P = c.ranks, root = c.root.value, v = floor_mod(r - root, P);
  const bool gathers = c.kind == CollectiveKind::gather;
  const Layout layout = gathers ? Layout::output_blocks : Layout::input_blocks;
  const auto range = [&](std::int64_t first, std::int64_t count) {
    return cyclic_blocks(layout, (root + first) % P, count, P);
  };
  const int levels = v == 0 ? 62 : std::countr_zero(static_cast<std::uint64_t>(v));
  const auto size = [&](std::int64_t child, int k) { return std::min(std::int64_t{1} << k, P - child); };
  const std::int64_t held = v == 0 ? P : size(v, levels), parent = v == 0 ? -1 : (root + (v & (v - 1))) % P;
  const bool leaf = held == 1;
  const Array whole = v == 0 ? (gathers ? out : in)
                      : leaf ? (gathers ? in : out)
                             : program.named_blocks(LaneId{0}, layout, r, held);
  // A leaf's only block, which its own buffer names in its own way.
  const auto own = [&] {
    return leaf && v != 0 ? whole[blocks(gathers ? Layout::input_blocks : Layout::output_blocks, r)]
                          : whole[range(v, held)];
  };
  std::vector<std::pair<std::int64_t, int>> children; // numbers relative to the root, levels
  for (int k = 0; k < levels && v + (std::int64_t{1} << k) < P; ++k)
    children.emplace_back(v + (std::int64_t{1} << k), k);
  if (gathers) {
    if (v == 0)
      place_own_block(lane, c, r);
    else if (!leaf)
      lane.step(copy(whole[range(v, 1)], in[in_block(r)]));
    std::vector<Step> arrivals;
    for (const auto& [child, k] : children)
      arrivals.push_back(receive((root + child) % P, whole[range(child, size(child, k))]));
    if (!arrivals.empty()) lane.round(std::move(arrivals));
    if (v != 0) lane.step(send(parent, own()));
    return;
  }
  if (v != 0) lane.step(receive(parent, own()));
  std::vector<Step> departures;
  for (auto child = children.rbegin(); child != children.rend(); ++child)
    departures.push_back(
        send((root + child->first) % P, whole[range(child->first, size(child->first, child->second))]));
  if (v == 0)
    place_own_block(lane, c, r);
  else if (!leaf)
    departures.push_back(copy(out[out_block(r)], whole[range(v, 1)]));
  if (!departures.empty()) lane.round(std::move(departures));
}

} // namespace

Rows rooted_binomial_rows() {
  Variant v;
  v.name = "binomial";
  v.summary = "ranges of blocks up or down a binomial tree";
  v.cost = "⌈log₂P⌉α + (P - 1)nβ";
  v.reference = "Thakur, Rabenseifner, Gropp, IJHPCA 19(1), 2005";
  v.recipe = [](const Collective& c, const RankSpace&, const Parameters& p) -> Result<Schedule> {
    if (c.counts.table) return not_applicable("a relay must know the counts of its subtree, and the root alone does");
    return one_lane(c, p, "tree",
                    [c](ProgramBuilder& program, LaneBuilder& lane, std::int64_t r) { write(program, lane, c, r); });
  };
  return rows_for({CollectiveKind::gather, CollectiveKind::scatter}, v);
}

} // namespace kumihimo
