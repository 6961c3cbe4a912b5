#include "collectives/patterns/ranges/range_tree.hpp"

namespace kumihimo {

void write_range_tree(ProgramBuilder& program, LaneBuilder& lane, const Collective& c, std::int64_t r,
                      const RangePlace& place) {
  const std::int64_t P = c.ranks;
  const bool gathers = c.kind == CollectiveKind::gather, is_root = !place.parent, leaf = place.held.count == 1;
  const Layout layout = gathers ? Layout::output_blocks : Layout::input_blocks;
  const auto range = [&](const RankRange& held) { return cyclic_blocks(layout, held.first, held.count, P); };
  const Array whole = is_root ? (gathers ? out : in)
                      : leaf  ? (gathers ? in : out)
                              : program.named_blocks(LaneId{0}, layout, place.held.first, place.held.count);
  // A leaf's only block, which its own buffer names in its own way.
  const Chunk own = leaf && !is_root ? whole[gathers ? in_block(r) : out_block(r)] : whole[range(place.held)];
  if (gathers) {
    if (is_root)
      place_own_block(lane, c, r);
    else if (!leaf)
      lane.step(copy(whole[range({r, 1})], in[in_block(r)]));
    std::vector<Step> arrivals;
    for (const auto& child : place.children) arrivals.push_back(receive(child.rank, whole[range(child.held)]));
    if (!arrivals.empty()) lane.round(std::move(arrivals));
    if (!is_root) lane.step(send(*place.parent, own));
    return;
  }
  if (!is_root) lane.step(receive(*place.parent, own));
  // One after another, the largest range first: its receiver has most to pass on, and at once they would share links.
  for (auto child = place.children.rbegin(); child != place.children.rend(); ++child)
    lane.step(send(child->rank, whole[range(child->held)]));
  if (is_root)
    place_own_block(lane, c, r);
  else if (!leaf)
    lane.step(copy(out[out_block(r)], whole[range({r, 1})]));
}

Variant range_tree(std::string summary, Cost cost, std::string reference, PlaceOf place) {
  return {.summary = std::move(summary),
          .cost = std::move(cost),
          .reference = std::move(reference),
          .equal_counts = "every rank must know all counts, because ranks relay blocks of other ranks",
          .recipe = [place](const Collective& c, const RankSpace&, const Parameters& p) -> Result<Schedule> {
            if (const auto obstacle = place(c.ranks, 0, 0); !obstacle) return obstacle.error();
            return one_lane(c, p, "tree", [c, place](ProgramBuilder& program, LaneBuilder& lane, std::int64_t r) {
              write_range_tree(program, lane, c, r, *place(c.ranks, c.root.value, r));
            });
          }};
}

} // namespace kumihimo
