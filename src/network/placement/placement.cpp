#include "placement/placement.hpp"

#include <fmt/format.h>

namespace kumihimo {
namespace {

constexpr std::int32_t nobody = -1;

Error outside(const Slots& slots, std::int32_t rank, Slot wanted) {
  if (wanted.node.value < 0 || wanted.node.value >= slots.nodes())
    return wrong_value(fmt::format("the job has nodes 0 to {}", slots.nodes() - 1),
                       fmt::format("node {} for rank {}", wanted.node.value, rank));
  const std::int32_t held = slots.on(wanted.node);
  if (held == 0)
    return wrong_value(fmt::format("rank {} must be on a node of the job", rank),
                       fmt::format("node {}", wanted.node.value));
  return wrong_value(fmt::format("node {} has slots 0 to {}", wanted.node.value, held - 1),
                     fmt::format("slot {} for rank {}", wanted.number, rank), "give more ranks per node");
}

} // namespace

Placement Placement::block(Slots slots, std::int32_t ranks) { return Placement(std::move(slots), ranks); }

Result<Placement> Placement::make(Slots slots, std::span<const Slot> of_rank) {
  Placement p(std::move(slots), static_cast<std::int32_t>(of_rank.size()));
  p.rank_at_index_.assign(static_cast<std::size_t>(p.slots_.size()), nobody);
  bool block = true;
  for (std::int32_t r = 0; r < p.ranks_; ++r) {
    if (!p.slots_.contains(of_rank[r])) return outside(p.slots_, r, of_rank[r]);
    const std::int32_t index = p.slots_.index(of_rank[r]);
    std::int32_t& holder = p.rank_at_index_[index];
    if (holder != nobody)
      return wrong_value(
          "each rank needs a slot of its own",
          fmt::format("ranks {} and {} in slot {} of node {}", holder, r, of_rank[r].number, of_rank[r].node.value));
    holder = r;
    p.index_of_rank_.push_back(index);
    block &= index == r;
  }
  if (block) return Placement::block(std::move(p.slots_), p.ranks_);
  return p;
}

Result<Placement> Placement::on_nodes(Slots slots, std::span<const NodeId> node_of_rank) {
  std::vector<std::int32_t> taken(static_cast<std::size_t>(slots.nodes()));
  std::vector<Slot> of_rank;
  for (const NodeId node : node_of_rank) {
    const bool exists = node.value >= 0 && node.value < slots.nodes();
    of_rank.push_back({node, exists ? taken[node.value]++ : 0});
  }
  return make(std::move(slots), of_rank);
}

std::optional<Rank> Placement::rank_in(Slot slot) const {
  if (!slots_.contains(slot)) return std::nullopt;
  const std::int32_t index = slots_.index(slot);
  const std::int32_t rank = !is_block() ? rank_at_index_[index] : index < ranks_ ? index : nobody;
  if (rank == nobody) return std::nullopt;
  return Rank{rank};
}

std::vector<NodeId> Placement::node_of_rank() const {
  std::vector<NodeId> nodes;
  for (std::int32_t r = 0; r < ranks_; ++r) nodes.push_back(node(Rank{r}));
  return nodes;
}

RankSpace Placement::rank_space(const Shape& nodes) const {
  if (slots_.nodes() == 1) return RankSpace::node(ranks_);
  return nodes.dimensions() > 0 ? RankSpace::recognise(nodes, node_of_rank()) : RankSpace::shapeless(node_of_rank());
}

} // namespace kumihimo
