#include "topology/virtual_torus.hpp"

#include "topology/tofu_connectivity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace kumihimo {

VirtualTorus::VirtualTorus(Tofu box, const TofuPlace& first, Shape shape, std::vector<TofuRing> rings)
    : tofu_(std::move(box)), first_(first), shape_(std::move(shape)), rings_(std::move(rings)) {}

std::int32_t VirtualTorus::on_ring(std::int32_t axis, std::int32_t coordinate) const {
  for (const Gap& gap : gaps_)
    if (gap.axis == axis && gap.position <= coordinate) ++coordinate;
  return coordinate;
}

TofuPlace VirtualTorus::place(NodeId node) const {
  TofuPlace at{};
  std::int32_t left = node.value;
  for (std::int32_t axis = shape_.dimensions(); axis-- > 0;) {
    rings_[axis].lay(on_ring(axis, left % shape_.length(axis)), at);
    left /= shape_.length(axis);
  }
  for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] += first_[axis];
  return at;
}

std::optional<NodeId> VirtualTorus::node_at(const TofuPlace& place) const {
  TofuPlace at = place;
  for (std::size_t axis = 0; axis < at.size(); ++axis) at[axis] -= first_[axis];
  std::vector<bool> laid(at.size());
  Coordinates coordinates;
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis) {
    for (const auto& level : rings_[axis].levels()) laid[level.axis] = true;
    const auto position = rings_[axis].position(at);
    if (!position) return std::nullopt;
    std::int32_t coordinate = *position;
    for (const Gap& gap : gaps_) {
      if (gap.axis != axis) continue;
      if (gap.position == *position) return std::nullopt;
      coordinate -= gap.position < *position;
    }
    if (coordinate >= shape_.length(axis)) return std::nullopt;
    coordinates.push_back(coordinate);
  }
  for (std::size_t axis = 0; axis < at.size(); ++axis)
    if (!laid[axis] && at[axis] != 0) return std::nullopt;
  return NodeId{shape_.place(coordinates)};
}

std::optional<NodeId> VirtualTorus::neighbour(NodeId node, std::int32_t axis, std::int32_t step) const {
  const std::int32_t to = shape_.coordinate(node.value, axis) + step;
  if (shape_.length(axis) == 1 || (!shape_.axes()[axis].wraps && (to < 0 || to >= shape_.length(axis))))
    return std::nullopt;
  return NodeId{shape_.shifted(node.value, axis, step)};
}

Result<VirtualTorus> VirtualTorus::without(std::span<const NodeId> nodes, std::span<const LinkId> links) const {
  auto torus = shortened(nodes, links);
  if (!torus) return torus;
  if (const Status reached = torus->connected(); !reached) return reached.error();
  return torus;
}

Status VirtualTorus::connected() const {
  return check_connected(tofu_, [this](const TofuPlace& at) { return node_at(at).has_value(); });
}

Result<VirtualTorus> VirtualTorus::shortened(std::span<const NodeId> nodes, std::span<const LinkId> links) const {
  VirtualTorus torus = *this;
  torus.tofu_ = tofu_.without(nodes, links);
  for (const NodeId dead : nodes) {
    const auto node = torus.node_at(tofu_.place(dead));
    if (!node) continue; // a relay, or left out already
    std::vector<Axis> axes = torus.shape_.axes();
    const auto longest =
        std::max_element(axes.begin(), axes.end(), [](const Axis& s, const Axis& t) { return s.length < t.length; });
    const auto axis = static_cast<std::int32_t>(longest - axes.begin());
    if (longest->length == 1)
      return wrong_value(fmt::format("no node of the job is left without the dead node {}", tofu_.text(dead)), {},
                         "take a larger shape, or another box");
    torus.gaps_.push_back({axis, torus.on_ring(axis, torus.shape_.coordinate(node->value, axis)), dead});
    std::sort(torus.gaps_.begin(), torus.gaps_.end(),
              [](const Gap& s, const Gap& t) { return std::tie(s.axis, s.position) < std::tie(t.axis, t.position); });
    --longest->length;
    torus.shape_ = Shape(std::move(axes));
  }
  return torus;
}

VirtualTorus::DistantNeighbours VirtualTorus::far_neighbours() const {
  DistantNeighbours far;
  for (std::int32_t node = 0; node < nodes(); ++node)
    for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis)
      for (const std::int32_t step : {1, -1}) {
        const auto other = neighbour(NodeId{node}, axis, step);
        if (!other || (step == -1 && shape_.length(axis) == 2 && other == neighbour(NodeId{node}, axis, 1))) continue;
        const std::int32_t hops = distance(NodeId{node}, *other);
        if (hops == 1) continue;
        far.fewest_hops = far.pairs == 0 ? hops : std::min(far.fewest_hops, hops);
        far.most_hops = std::max(far.most_hops, hops);
        ++far.pairs;
      }
  return far;
}

std::vector<std::int64_t> VirtualTorus::nodes_by_coordinate(std::int32_t physical) const {
  std::vector<std::int64_t> count(static_cast<std::size_t>(tofu_.shape().length(physical)));
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis) {
    const auto& levels = rings_[axis].levels();
    if (std::none_of(levels.begin(), levels.end(), [&](const auto& level) { return level.axis == physical; })) continue;
    TofuPlace at{};
    for (std::int32_t i = 0; i < shape_.length(axis); ++i) {
      rings_[axis].lay(on_ring(axis, i), at);
      count[at[physical] + first_[physical]] += nodes() / shape_.length(axis);
    }
    return count;
  }
  count[first_[physical]] = nodes(); // an axis of which the job has one place
  return count;
}

std::int64_t VirtualTorus::bisection_links() const {
  if (nodes() == 1) return 0;
  double fewest = std::numeric_limits<double>::max();
  for (std::int32_t axis = 0; axis < Tofu::axes; ++axis) {
    const Axis& kind = tofu_.shape().axes()[axis];
    const double cut = static_cast<double>(tofu_.nodes()) / kind.length * (kind.is_ring() ? 2 : 1);
    const double all = nodes();
    double below = 0;
    for (const std::int64_t here : nodes_by_coordinate(axis)) {
      below += static_cast<double>(here);
      if (below > 0 && below < all) fewest = std::min(fewest, cut * all * all / (4 * below * (all - below)));
    }
  }
  return static_cast<std::int64_t>(std::ceil(fewest - 1e-6));
}

// Ways are the same in the mirror where they are straight, and at half a ring, where they go by the parity of the
// sender's coordinate, if this changes.
std::vector<VirtualTorus::Mirror> VirtualTorus::half_turn(std::int32_t axis) const {
  if (!tofu_.whole() || !gaps_.empty() || !shape_.axes()[axis].wraps) return {};
  std::vector<Mirror> mirrors;
  std::int32_t places = 1, inner = 1;
  for (const TofuRing::Level& level : rings_[axis].levels()) {
    if (level.used == 1) continue;
    const Axis& kind = tofu_.shape().axes()[level.axis];
    const std::int32_t sum = 2 * first_[level.axis] + level.used - 1;
    if (!(kind.wraps ? kind.length % 2 != 0 || sum % 2 != 0 : sum == kind.length - 1)) return {};
    mirrors.push_back({level.axis, sum});
    places *= inner = level.used;
  }
  if (mirrors.size() != 2 || inner != 2 || places != shape_.length(axis)) return {};
  return mirrors;
}

Topology::Shifts VirtualTorus::shifts() const {
  Shifts all{shape_, {}};
  for (std::int32_t axis = 0; axis < shape_.dimensions(); ++axis)
    all.periods.push_back(half_turn(axis).empty() ? shape_.length(axis) : shape_.length(axis) / 2);
  return all;
}

LinkId VirtualTorus::shifted(LinkId link, std::int32_t axis) const {
  constexpr std::int64_t ports = 2 * Tofu::axes;
  TofuPlace at = tofu_.place(NodeId{static_cast<std::int32_t>(link.value / ports)});
  std::int64_t port = link.value % ports;
  for (const Mirror& mirror : half_turn(axis)) {
    const std::int32_t length = tofu_.shape().length(mirror.axis);
    at[mirror.axis] = (mirror.sum - at[mirror.axis] + length) % length;
    if (port / 2 == mirror.axis) port ^= 1;
  }
  return LinkId{tofu_.node(at).value * ports + port};
}

Topology::Link VirtualTorus::describe(LinkId link) const {
  Link described = tofu_.describe(link);
  const auto number = [&](NodeId node) { return node_at(tofu_.place(node)).value_or(NodeId{-1}); };
  described.from = number(described.from);
  described.to = number(described.to);
  return described;
}

std::string VirtualTorus::name() const { return fmt::format("{} in {}", Torus(shape_).name(), tofu_.name()); }

} // namespace kumihimo
