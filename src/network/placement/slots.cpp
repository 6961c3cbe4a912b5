#include "placement/slots.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace kumihimo {

Result<Slots> Slots::of_nodes(const std::vector<std::int32_t>& sizes) {
  std::vector<std::int32_t> first = {0};
  for (std::size_t node = 0; node < sizes.size(); ++node) {
    if (sizes[node] < 0) return wrong_value(fmt::format("node {} must have 0 or more ranks", node), sizes[node]);
    const std::int64_t sum = std::int64_t{first.back()} + sizes[node];
    if (sum > std::numeric_limits<std::int32_t>::max())
      return wrong_value("all nodes together must have at most 2^31-1 ranks", {}, "take fewer ranks per node");
    first.push_back(static_cast<std::int32_t>(sum));
  }
  if (first.back() == 0)
    return wrong_value("at least one node must have ranks", fmt::format("{} nodes with none", sizes.size()));
  if (std::equal(sizes.begin() + 1, sizes.end(), sizes.begin()))
    return Slots(static_cast<std::int32_t>(sizes.size()), sizes.front());
  Slots slots(0, 0);
  slots.nodes_ = static_cast<std::int32_t>(sizes.size());
  slots.each_ = -1;
  slots.size_ = first.back();
  slots.first_ = std::move(first);
  return slots;
}

Slot Slots::at(std::int32_t index) const {
  if (each_ >= 0) return {NodeId{index / each_}, index % each_};
  const auto after = std::upper_bound(first_.begin(), first_.end(), index);
  return {NodeId{static_cast<std::int32_t>(after - first_.begin()) - 1}, index - *(after - 1)};
}

} // namespace kumihimo
