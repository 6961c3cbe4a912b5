#include "placement/placement.hpp"

#include "base/hash.hpp"
#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

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

std::vector<Slot> round_robin(const Slots& slots) {
  std::vector<Slot> order;
  std::int32_t most = 0;
  for (std::int32_t node = 0; node < slots.nodes(); ++node) most = std::max(most, slots.on(NodeId{node}));
  for (std::int32_t number = 0; number < most; ++number)
    for (std::int32_t node = 0; node < slots.nodes(); ++node)
      if (slots.contains({NodeId{node}, number})) order.push_back({NodeId{node}, number});
  return order;
}

std::vector<Slot> reversed_axes(const Slots& slots, const Shape& nodes) {
  std::vector<Axis> reversed(nodes.axes().rbegin(), nodes.axes().rend());
  const Shape walked(std::move(reversed));
  std::vector<Slot> order;
  for (std::int32_t place = 0; place < walked.places(); ++place) {
    Coordinates c = walked.coordinates(place);
    std::reverse(c.begin(), c.end());
    const NodeId node{nodes.place(c)};
    for (std::int32_t number = 0; number < slots.on(node); ++number) order.push_back({node, number});
  }
  return order;
}

std::vector<Slot> shuffled(const Slots& slots, std::uint64_t seed) {
  std::vector<Slot> order;
  for (std::int32_t i = 0; i < slots.size(); ++i) order.push_back(slots.at(i));
  for (auto left = static_cast<std::uint64_t>(order.size()); left > 1; --left)
    std::swap(order[left - 1], order[mixed(seed, left) % left]);
  return order;
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

Result<Placement> placement_in_order(std::string_view order, const Slots& slots, const Shape& nodes) {
  if (order == "block") return Placement::block(slots);
  if (order == "round-robin") return Placement::make(slots, round_robin(slots));
  if (order == "reversed-axes") {
    if (nodes.dimensions() == 0 || nodes.places() != slots.nodes())
      return not_applicable("the order reversed-axes needs nodes with axes", {}, "take round-robin or random:SEED");
    return Placement::make(slots, reversed_axes(slots, nodes));
  }
  if (constexpr std::string_view random = "random:"; order.starts_with(random)) {
    const auto seed = number_in<std::uint64_t>(order.substr(random.size()));
    if (!seed)
      return wrong_value("the seed is a number from 0 to 2^64 - 1, as in random:7", fmt::format("'{}'", order));
    return Placement::make(slots, shuffled(slots, *seed));
  }
  return wrong_value("an order of ranks is block, round-robin, reversed-axes or random:SEED",
                     fmt::format("'{}'", order));
}

} // namespace kumihimo
