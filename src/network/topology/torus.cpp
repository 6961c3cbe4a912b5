#include "topology/torus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

namespace kumihimo {
namespace {

constexpr std::string_view letters = "xyzabcdefghijklm";

std::int32_t ports_of(const Axis& a) { return a.length == 1 ? 0 : a.length == 2 ? 1 : 2; }

} // namespace

std::int32_t Torus::hops(std::int32_t axis, std::int32_t from, std::int32_t to) const {
  const Axis& a = shape_.axes()[axis];
  const std::int32_t straight = to - from;
  if (!a.wraps) return straight;
  const std::int32_t plus = straight < 0 ? straight + a.length : straight;
  const std::int32_t minus = a.length - plus; // hops the other way, as twice a coordinate may pass 2^31
  if (plus == minus) return from % 2 == 0 ? plus : -plus;
  return plus < minus ? plus : -minus;
}

bool Torus::is_link(LinkId link) const {
  const std::int32_t axis = static_cast<std::int32_t>(link.value / 2 % shape_.dimensions());
  const auto node = static_cast<std::int32_t>(link.value / 2 / shape_.dimensions());
  const bool plus = link.value % 2 == 0;
  const Axis& a = shape_.axes()[axis];
  if (a.length == 1) return false;
  if (a.is_ring()) return true;
  const std::int32_t c = shape_.coordinate(node, axis);
  return plus ? c + 1 < a.length : c > 0;
}

void Torus::append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const {
  NodeId at = from;
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis) {
    const std::int32_t target = shape_.coordinate(to.value, axis);
    std::int32_t left = hops(axis, shape_.coordinate(at.value, axis), target);
    const Direction direction = left >= 0 ? Direction::plus : Direction::minus;
    for (left = std::abs(left); left > 0; --left) {
      route.push_back(link(at, axis, direction));
      at = neighbour(at, axis, direction);
    }
  }
}

std::int32_t Torus::distance(NodeId from, NodeId to) const {
  std::int32_t sum = 0;
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis)
    sum += std::abs(hops(axis, shape_.coordinate(from.value, axis), shape_.coordinate(to.value, axis)));
  return sum;
}

std::int32_t Torus::diameter() const {
  std::int32_t sum = 0;
  for (const Axis& a : shape_.axes()) sum += a.wraps ? a.length / 2 : a.length - 1;
  return sum;
}

std::int64_t Torus::bisection_links() const {
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const Axis& a : shape_.axes())
    if (a.length > 1) fewest = std::min<std::int64_t>(fewest, std::int64_t{nodes()} / a.length * (a.is_ring() ? 2 : 1));
  return nodes() == 1 ? 0 : fewest;
}

std::int32_t Torus::degree() const {
  std::int32_t sum = 0;
  for (const Axis& a : shape_.axes()) sum += ports_of(a);
  return sum;
}

std::vector<std::string> Torus::link_classes() const {
  std::vector<std::string> names;
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis) names.emplace_back(1, letters[axis]);
  return names;
}

std::vector<std::int64_t> Torus::ports() const {
  std::vector<std::int64_t> all;
  for (const Axis& a : shape_.axes()) all.push_back(ports_of(a));
  return all;
}

std::vector<Topology::Cut> Torus::cuts() const {
  std::vector<Cut> all;
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis) {
    const Axis& a = shape_.axes()[axis];
    if (a.length == 1) continue;
    Cut cut{static_cast<double>(a.length / 2) / a.length, std::vector<std::int64_t>(shape_.dimensions())};
    cut.links[axis] = std::int64_t{nodes()} / a.length * (a.is_ring() ? 2 : 1);
    all.push_back(std::move(cut));
  }
  return all;
}

std::int32_t Torus::period(std::int32_t axis) const {
  const Axis& a = shape_.axes()[axis];
  if (a.length == 2) return 1; // its one cable turned round
  if (!a.is_ring()) return a.length;
  return a.length % 2 == 0 ? 2 : 1;
}

Topology::Shifts Torus::shifts() const {
  Shifts all{shape_, {}};
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis) all.periods.push_back(period(axis));
  return all;
}

LinkId Torus::shifted(LinkId link, std::int32_t axis) const {
  const std::int64_t ports = std::int64_t{2} * shape_.dimensions(), port = link.value % ports;
  const bool turned = shape_.length(axis) == 2 && port / 2 == axis;
  const auto node = static_cast<std::int32_t>(link.value / ports);
  return LinkId{shape_.shifted(node, axis, period(axis)) * ports + (turned ? port ^ 1 : port)};
}

std::int64_t Torus::count_links() const {
  std::int64_t sum = 0;
  for (const Axis& a : shape_.axes())
    if (a.length > 1) sum += std::int64_t{nodes()} / a.length * (a.is_ring() ? a.length : a.length - 1) * 2;
  return sum;
}

Topology::Link Torus::describe(LinkId link) const {
  const auto axis = static_cast<std::int32_t>(link.value / 2 % shape_.dimensions());
  const NodeId node{static_cast<std::int32_t>(link.value / 2 / shape_.dimensions())};
  const Direction direction = link.value % 2 == 0 ? Direction::plus : Direction::minus;
  return {node, neighbour(node, axis, direction),
          fmt::format("{}{} at ({})", direction == Direction::plus ? '+' : '-', letters[axis],
                      fmt::join(shape_.coordinates(node.value), ","))};
}

std::string Torus::name() const {
  const auto& axes = shape_.axes();
  const bool mesh = std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return !a.wraps; });
  return fmt::format("{} {}", mesh ? "mesh" : "torus", shape_.text());
}

} // namespace kumihimo
