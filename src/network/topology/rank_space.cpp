#include "topology/rank_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>

namespace kumihimo {
namespace {

// The smallest run of consecutive coordinates (round the ring where the axis wraps) that holds all used ones; only a
// run without gaps makes a box.
struct AxisSpan {
  std::int32_t first = 0, length = 1;
};

std::optional<AxisSpan> span_of(const std::vector<bool>& used, const Axis& axis) {
  const std::int64_t n = axis.length; // sums of two coordinates may pass 2^31
  const auto count = static_cast<std::int32_t>(std::count(used.begin(), used.end(), true));
  if (count == n) return AxisSpan{0, count};
  for (std::int32_t first = 0; first < n; ++first) {
    if (!used[first] || used[(first + n - 1) % n]) continue; // not where a run begins
    if (!axis.wraps && first > n - count) continue;
    for (std::int32_t i = 0; i < count; ++i)
      if (!used[(first + i) % n]) return std::nullopt;
    return AxisSpan{first, count};
  }
  return std::nullopt;
}

} // namespace

RankSpace RankSpace::row(std::int32_t ranks) {
  RankSpace s;
  s.ranks_ = ranks;
  s.shape_ = Shape({Axis{ranks, false}});
  return s;
}

RankSpace RankSpace::node(std::int32_t ranks, const std::vector<Level>& levels) {
  RankSpace s;
  s.ranks_ = s.ranks_per_node_ = ranks;
  s.has_shape_ = true;
  s.shape_ = Shape({Axis{ranks, true}});
  for (const Level& level : levels)
    if (level.size > 1 && level.size < ranks) s.levels_.push_back(level);
  return s;
}

RankSpace RankSpace::on_switches(std::int32_t nodes, std::int32_t ranks_per_node, const std::vector<Level>& levels) {
  RankSpace s = row(nodes * ranks_per_node);
  s.ranks_per_node_ = ranks_per_node;
  for (const Level& level : levels)
    if (level.size > 1 && level.size < nodes) s.levels_.push_back({level.name, level.size * ranks_per_node});
  if (ranks_per_node > 1 && nodes > 1) s.levels_.push_back({"node", ranks_per_node});
  return s;
}

RankSpace RankSpace::box(Shape nodes, std::int32_t ranks_per_node) {
  RankSpace s;
  std::vector<Axis> axes = nodes.axes();
  if (ranks_per_node > 1) axes.push_back(Axis{ranks_per_node, true});
  s.shape_ = Shape(std::move(axes));
  s.ranks_ = s.shape_.places();
  s.has_shape_ = true;
  s.ranks_per_node_ = ranks_per_node;
  if (ranks_per_node > 1 && s.ranks_ > ranks_per_node) s.levels_ = {{"node", ranks_per_node}};
  return s;
}

RankSpace RankSpace::of_nodes(std::span<const std::int32_t> sizes) {
  std::vector<NodeId> node_of_rank;
  for (std::size_t n = 0; n < sizes.size(); ++n)
    node_of_rank.insert(node_of_rank.end(), static_cast<std::size_t>(sizes[n]), NodeId{static_cast<std::int32_t>(n)});
  return recognise(Shape({Axis{static_cast<std::int32_t>(sizes.size()), false}}), node_of_rank);
}

RankSpace RankSpace::on_nodes(std::span<const std::int64_t> node_of_rank) {
  std::map<std::int64_t, std::int32_t> place; // of a node in the row
  std::vector<NodeId> nodes;
  for (const std::int64_t node : node_of_rank)
    nodes.push_back(NodeId{place.emplace(node, static_cast<std::int32_t>(place.size())).first->second});
  if (place.size() == 1) return RankSpace::node(static_cast<std::int32_t>(node_of_rank.size()));
  return recognise(Shape({Axis{static_cast<std::int32_t>(place.size()), false}}), nodes);
}

RankSpace RankSpace::shapeless(std::span<const NodeId> node_of_rank) {
  std::map<std::int32_t, std::vector<Rank>> members; // by node
  for (std::size_t r = 0; r < node_of_rank.size(); ++r)
    members[node_of_rank[r].value].push_back(Rank{static_cast<std::int32_t>(r)});
  RankSpace s = row(static_cast<std::int32_t>(node_of_rank.size()));
  std::vector<std::vector<Rank>> groups;
  for (auto& [node, of_node] : members) {
    s.node_sizes_.push_back(static_cast<std::int32_t>(of_node.size()));
    groups.push_back(std::move(of_node));
  }
  const auto [least, most] = std::minmax_element(s.node_sizes_.begin(), s.node_sizes_.end());
  s.ranks_per_node_ = groups.empty() ? 1 : *least == *most ? *most : 0;
  if (s.ranks_per_node_ != 0) s.node_sizes_.clear();
  s.nodes_ = std::make_shared<const std::vector<std::vector<Rank>>>(std::move(groups));
  return s;
}

RankSpace RankSpace::recognise(const Shape& machine, std::span<const NodeId> node_of_rank) {
  const auto ranks = static_cast<std::int32_t>(node_of_rank.size());
  RankSpace fallback = shapeless(node_of_rank);
  if (fallback.ranks_per_node_ == 0) return fallback;
  std::map<std::int32_t, std::int32_t> ranks_on; // node -> ranks seen there
  for (NodeId node : node_of_rank) ++ranks_on[node.value];
  const std::int32_t each = fallback.ranks_per_node_;
  if (ranks_on.size() == 1) return node(ranks);

  std::vector<AxisSpan> spans;
  std::vector<Axis> axes;
  std::int64_t box = 1;
  for (std::int32_t a = 0; a < machine.dimensions(); ++a) {
    std::vector<bool> used(machine.length(a));
    for (auto [node, n] : ranks_on) used[machine.coordinate(node, a)] = true;
    const auto span = span_of(used, machine.axes()[a]);
    if (!span) return fallback;
    spans.push_back(*span);
    axes.push_back(Axis{span->length, machine.axes()[a].wraps && span->length == machine.length(a)});
    box *= span->length;
  }
  if (box != static_cast<std::int64_t>(ranks_on.size())) return fallback;

  RankSpace s = RankSpace::box(Shape(axes), each);
  const Shape nodes(axes);
  auto order = std::make_shared<Order>();
  order->place_of_rank.resize(ranks);
  order->rank_at_place.resize(ranks);
  std::map<std::int32_t, std::int32_t> seen;
  bool identity = true;
  for (std::int32_t r = 0; r < ranks; ++r) {
    const std::int32_t node = node_of_rank[r].value;
    Coordinates c(spans.size());
    for (std::int32_t a = 0; a < machine.dimensions(); ++a) {
      const std::int32_t from_first = machine.coordinate(node, a) - spans[a].first;
      c[a] = from_first < 0 ? from_first + machine.length(a) : from_first;
    }
    const std::int32_t place = nodes.place(c) * each + seen[node]++;
    order->place_of_rank[r] = place;
    order->rank_at_place[place] = Rank{r};
    identity &= place == r;
  }
  if (!identity) {
    s.order_ = std::move(order);
    s.levels_.clear();
  }
  return s;
}

std::vector<std::vector<Rank>> RankSpace::nodes() const {
  if (nodes_) return *nodes_;
  std::vector<std::vector<Rank>> groups(static_cast<std::size_t>(ranks_ / ranks_per_node_));
  for (std::int32_t place = 0; place < ranks_; ++place)
    groups[static_cast<std::size_t>(place / ranks_per_node_)].push_back(rank_at(place));
  for (auto& group : groups) std::sort(group.begin(), group.end());
  return groups;
}

RankSpace RankSpace::between_nodes() const {
  if (nodes_) return row(static_cast<std::int32_t>(nodes_->size()));
  if (ranks_per_node_ == ranks_) return row(1);
  if (!has_shape_) {
    std::vector<Level> of_nodes;
    for (const Level& level : levels_)
      if (level.size > ranks_per_node_) of_nodes.push_back({level.name, level.size / ranks_per_node_});
    return on_switches(ranks_ / ranks_per_node_, 1, of_nodes);
  }
  std::vector<Axis> axes = shape_.axes();
  if (ranks_per_node_ > 1) axes.pop_back();
  return box(Shape(std::move(axes)));
}

std::string RankSpace::name() const {
  const std::string_view s = ranks_ == 1 ? "" : "s";
  if (!has_shape_) {
    std::string text = fmt::format("row of {} rank{}", ranks_, s);
    for (const Level& level : levels_) text += fmt::format(", {} a {}", level.size, level.name);
    if (!node_sizes_.empty()) {
      const auto [least, most] = std::minmax_element(node_sizes_.begin(), node_sizes_.end());
      text += fmt::format(", {} to {} a node", *least, *most);
    }
    return text;
  }
  if (shape_.dimensions() == 1 && ranks_per_node_ == ranks_) return fmt::format("node of {} rank{}", ranks_, s);
  if (ranks_per_node_ > 1) {
    std::vector<Axis> nodes(shape_.axes().begin(), shape_.axes().end() - 1);
    return fmt::format("{}, {} ranks a node", Torus(Shape(nodes)).name(), ranks_per_node_);
  }
  return Torus(shape_).name();
}

} // namespace kumihimo
