#include "topology/tofu.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>

namespace kumihimo {
namespace {

constexpr std::array<std::int32_t, 3> before{Tofu::b, Tofu::c, Tofu::a};
constexpr std::array<std::int32_t, 6> order{Tofu::x, Tofu::y, Tofu::z, Tofu::a, Tofu::c, Tofu::b};

std::int32_t target(const Tofu::Way& way, std::int32_t axis) {
  return axis == Tofu::a ? way.a : axis == Tofu::b ? way.b : way.c;
}

template <class T>
std::vector<T> sorted(std::vector<T> items) {
  std::sort(items.begin(), items.end());
  items.erase(std::unique(items.begin(), items.end()), items.end());
  return items;
}

} // namespace

std::string text_of(const TofuPlace& coordinates, std::string_view separator) {
  return fmt::format("{}", fmt::join(coordinates, separator));
}

Result<Tofu> Tofu::make(const Shape& shape) {
  if (shape.dimensions() != axes)
    return wrong_value("the axes of Tofu are six lengths, of x, y, z, a, b, c, such as 24x18mx16x2mx3x2m",
                       shape.text());
  Tofu tofu(shape);
  for (std::int32_t axis = 0; axis < axes; ++axis) tofu.machine_[axis] = shape.length(axis);
  return tofu;
}

Shape Tofu::usual(const TofuPlace& lengths) {
  std::vector<Axis> kinds;
  for (std::int32_t axis = 0; axis < axes; ++axis)
    kinds.push_back({lengths[axis], axis == x || axis == z || axis == b});
  return Shape(std::move(kinds));
}

Tofu Tofu::part(const TofuBox& box) const {
  std::vector<Axis> kinds;
  for (std::int32_t axis = 0; axis < axes; ++axis) {
    const Axis& mine = shape().axes()[axis];
    kinds.push_back({box.lengths[axis], mine.wraps && box.lengths[axis] == mine.length});
  }
  Tofu tofu{Shape(std::move(kinds))};
  tofu.machine_ = machine_;
  for (std::int32_t axis = 0; axis < axes; ++axis)
    tofu.first_[axis] = (first_[axis] + box.first[axis]) % machine_[axis];
  const auto inside = [&](NodeId node) -> std::optional<NodeId> {
    TofuPlace p = place(node);
    for (std::int32_t axis = 0; axis < axes; ++axis) {
      const std::int32_t length = shape().length(axis);
      p[axis] = (p[axis] - box.first[axis] % length + length) % length;
      if (p[axis] >= box.lengths[axis]) return std::nullopt;
    }
    return tofu.node(p);
  };
  std::vector<NodeId> nodes;
  for (const NodeId dead : dead_nodes_)
    if (const auto node = inside(dead)) nodes.push_back(*node);
  std::vector<LinkId> links;
  for (const LinkId dead : dead_links_) {
    const auto from = inside(torus_.describe(dead).from);
    const LinkId link{from ? (from->value * std::int64_t{axes * 2} + dead.value % (axes * 2)) : 0};
    if (from && tofu.torus_.is_link(link)) links.push_back(link);
  }
  return tofu.without(nodes, links);
}

Tofu Tofu::without(std::span<const NodeId> nodes, std::span<const LinkId> links) const {
  Tofu tofu = *this;
  tofu.dead_nodes_.insert(tofu.dead_nodes_.end(), nodes.begin(), nodes.end());
  for (const LinkId link : links) {
    const auto axis = static_cast<std::int32_t>(link.value / 2 % axes);
    const auto back = link.value % 2 == 0 ? Torus::Direction::minus : Torus::Direction::plus;
    tofu.dead_links_.push_back(link);
    tofu.dead_links_.push_back(torus_.link(torus_.describe(link).to, axis, back));
  }
  tofu.dead_nodes_ = sorted(std::move(tofu.dead_nodes_));
  tofu.dead_links_ = sorted(std::move(tofu.dead_links_));
  return tofu;
}

TofuPlace Tofu::place(NodeId node) const {
  TofuPlace p;
  std::int32_t left = node.value;
  for (std::int32_t axis = axes; axis-- > 0;) {
    p[axis] = left % shape().length(axis);
    left /= shape().length(axis);
  }
  return p;
}

NodeId Tofu::node(const TofuPlace& place) const {
  std::int32_t value = 0;
  for (std::int32_t axis = 0; axis < axes; ++axis) value = value * shape().length(axis) + place[axis];
  return NodeId{value};
}

std::optional<NodeId> Tofu::neighbour(NodeId node, std::int32_t axis, Torus::Direction direction) const {
  if (!torus_.is_link(torus_.link(node, axis, direction))) return std::nullopt;
  return torus_.neighbour(node, axis, direction);
}

TofuPlace Tofu::place_in_machine(const TofuPlace& place) const {
  TofuPlace p;
  for (std::int32_t axis = 0; axis < axes; ++axis) p[axis] = (first_[axis] + place[axis]) % machine_[axis];
  return p;
}

std::string Tofu::text(NodeId node) const { return fmt::format("({})", text_of(place_in_machine(place(node)), ",")); }

bool Tofu::alive(NodeId node) const { return !std::binary_search(dead_nodes_.begin(), dead_nodes_.end(), node); }

std::vector<Tofu::Way> Tofu::ways() const {
  std::vector<Way> all;
  for (std::int32_t i = 0; i < shape().length(a); ++i)
    for (std::int32_t j = 0; j < shape().length(b); ++j)
      for (std::int32_t k = 0; k < shape().length(c); ++k) all.push_back({i, j, k});
  return all;
}

void Tofu::append_way(const TofuPlace& from, const TofuPlace& to, const Way& way, std::vector<LinkId>& route) const {
  TofuPlace at = from;
  std::int64_t node = this->node(from).value;
  const auto walk = [&](std::int32_t axis, std::int32_t coordinate) {
    std::int32_t left = torus_.hops(axis, at[axis], coordinate);
    const std::int32_t length = shape().length(axis), stride = shape().stride(axis), step = left < 0 ? -1 : 1;
    for (left = std::abs(left); left > 0; --left) {
      route.push_back(LinkId{(node * axes + axis) * 2 + (step < 0)});
      std::int32_t next = at[axis] + step;
      if (next < 0) next += length;
      if (next == length) next = 0;
      node += std::int64_t{next - at[axis]} * stride;
      at[axis] = next;
    }
  };
  for (const std::int32_t axis : before) walk(axis, target(way, axis));
  for (const std::int32_t axis : order) walk(axis, to[axis]);
}

std::int32_t Tofu::hops(const TofuPlace& from, const TofuPlace& to, const Way& way) const {
  std::int32_t sum = 0;
  for (std::int32_t axis = x; axis <= z; ++axis) sum += std::abs(torus_.hops(axis, from[axis], to[axis]));
  for (const std::int32_t axis : before)
    sum += std::abs(torus_.hops(axis, from[axis], target(way, axis))) +
           std::abs(torus_.hops(axis, target(way, axis), to[axis]));
  return sum;
}

std::optional<Tofu::Way> Tofu::live_way(const TofuPlace& from, const TofuPlace& to) const {
  const Way normal = normal_way(from);
  if (whole()) return normal;
  std::vector<LinkId> route;
  append_way(from, to, normal, route);
  if (!dead(route)) return normal;
  std::optional<Way> best;
  std::int32_t fewest = 0;
  for (const Way& way : ways()) {
    const std::int32_t here = hops(from, to, way);
    if (best && here >= fewest) continue;
    route.clear();
    append_way(from, to, way, route);
    if (dead(route)) continue;
    best = way;
    fewest = here;
  }
  return best;
}

void Tofu::append_route(const TofuPlace& from, const TofuPlace& to, std::vector<LinkId>& route) const {
  append_way(from, to, live_way(from, to).value_or(normal_way(from)), route);
}

std::int32_t Tofu::distance(const TofuPlace& from, const TofuPlace& to) const {
  return hops(from, to, live_way(from, to).value_or(normal_way(from)));
}

void Tofu::append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const {
  append_route(place(from), place(to), route);
}

std::int32_t Tofu::distance(NodeId from, NodeId to) const { return distance(place(from), place(to)); }

bool Tofu::dead(LinkId link) const {
  if (std::binary_search(dead_links_.begin(), dead_links_.end(), link)) return true;
  if (dead_nodes_.empty()) return false;
  const auto axis = static_cast<std::int32_t>(link.value / 2 % axes);
  const NodeId from{static_cast<std::int32_t>(link.value / 2 / axes)};
  const auto direction = link.value % 2 == 0 ? Torus::Direction::plus : Torus::Direction::minus;
  return !alive(from) || !alive(torus_.neighbour(from, axis, direction));
}

bool Tofu::dead(std::span<const LinkId> route) const {
  return std::any_of(route.begin(), route.end(), [&](LinkId link) { return dead(link); });
}

bool Tofu::is_link(LinkId link) const { return torus_.is_link(link) && (whole() || !dead(link)); }

std::int64_t Tofu::count_links() const { return whole() ? torus_.links() : Topology::count_links(); }

Topology::Link Tofu::describe(LinkId link) const {
  Link described = torus_.describe(link);
  const auto axis = static_cast<std::size_t>(link.value / 2 % axes);
  described.name = fmt::format("{}{} at {}", link.value % 2 == 0 ? '+' : '-', "xyzabc"[axis], text(described.from));
  return described;
}

std::string Tofu::name() const {
  TofuPlace lengths;
  for (std::int32_t axis = 0; axis < axes; ++axis) lengths[axis] = shape().length(axis);
  return "Tofu " + text_of(lengths, "x");
}

} // namespace kumihimo
