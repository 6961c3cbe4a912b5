#include "mapping/partition/domain.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace kumihimo::mapping {
namespace {

// Axes by descending extent of the slots' nodes.
std::vector<std::int32_t> axes_by_extent(const MappingHost& host, const std::vector<std::int32_t>& slots,
                                         Random& random) {
  const std::int32_t dimensions = host.metric.axes().dimensions();
  std::vector<std::int32_t> order(static_cast<std::size_t>(dimensions)), extent = order;
  std::iota(order.begin(), order.end(), 0);
  for (std::size_t at = order.size(); at > 1; --at) std::swap(order[at - 1], order[random.below(at)]);
  for (std::int32_t axis = 0; axis < dimensions; ++axis) {
    std::int32_t least = host.metric.coordinate(host.node(slots.front()), axis), most = least;
    for (const std::int32_t slot : slots) {
      const std::int32_t coordinate = host.metric.coordinate(host.node(slot), axis);
      least = std::min(least, coordinate), most = std::max(most, coordinate);
    }
    extent[static_cast<std::size_t>(axis)] = most - least;
  }
  std::stable_sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return extent[static_cast<std::size_t>(a)] > extent[static_cast<std::size_t>(b)];
  });
  return order;
}

// The position of the greatest step between neighbours in the middle third; of equals the one nearest to the middle.
template <class Step>
std::size_t cut_at_greatest(std::size_t count, const Step& step) {
  const std::size_t middle = count / 2;
  std::size_t best = middle;
  std::int32_t greatest = step(middle);
  for (std::size_t off = 1; off <= count / 6 && off < middle; ++off)
    for (const std::size_t at : {middle - off, middle + off})
      if (at < count && step(at) > greatest) best = at, greatest = step(at);
  return best;
}

} // namespace

bool Domain::is_one_node(const MappingHost& host) const {
  return std::all_of(slots.begin(), slots.end(),
                     [&](std::int32_t slot) { return host.node(slot) == host.node(slots.front()); });
}

std::size_t cut_of(const MappingHost& host, std::vector<std::int32_t>& slots, Random& random) {
  if (!host.metric.has_axes()) {
    std::sort(slots.begin(), slots.end());
    return host.metric.visit([&](const auto& hops) {
      return cut_at_greatest(slots.size(),
                             [&](std::size_t at) { return hops(host.node(slots[at - 1]), host.node(slots[at])); });
    });
  }
  const std::vector<std::int32_t> axes = axes_by_extent(host, slots, random);
  std::sort(slots.begin(), slots.end(), [&](std::int32_t a, std::int32_t b) {
    for (const std::int32_t axis : axes) {
      const std::int32_t left = host.metric.coordinate(host.node(a), axis);
      const std::int32_t right = host.metric.coordinate(host.node(b), axis);
      if (left != right) return left < right;
    }
    return a < b;
  });
  return cut_at_greatest(slots.size(), [&](std::size_t at) {
    return std::min(1, std::abs(host.metric.coordinate(host.node(slots[at]), axes.front()) -
                                host.metric.coordinate(host.node(slots[at - 1]), axes.front())));
  });
}

} // namespace kumihimo::mapping
