// The nodes close to each node, as moves of an annealing choose among them.
#pragma once

#include "mapping/objective/host.hpp"
#include "mapping/search/tools.hpp"

#include <span>
#include <vector>

namespace kumihimo::mapping {

class Nearby {
 public:
  // Nearby nodes of each node with slots: itself if it has several, then up to about 12 of the nearest other nodes with
  // slots. On axes those one step away; where there is none, two steps. Without axes: the nearest among those with
  // close numbers.
  explicit Nearby(const MappingHost& host);

  std::span<const std::int32_t> of(std::int32_t node) const {
    const auto at = static_cast<std::size_t>(node);
    return std::span(nodes_).subspan(first_[at], first_[at + 1] - first_[at]);
  }
  // Any slot of a node that has slots.
  std::int32_t slot_on(std::int32_t node, std::uint64_t bits) const {
    const auto [first, slots] = slots_[static_cast<std::size_t>(node)];
    return first +
           (slots == 1 ? 0 : static_cast<std::int32_t>((bits & 0xffff) * static_cast<std::uint64_t>(slots) >> 16));
  }
  void append_slots(std::int32_t node, std::vector<std::int32_t>& all) const {
    const auto [first, slots] = slots_[static_cast<std::size_t>(node)];
    for (std::int32_t slot = first; slot < first + slots; ++slot) all.push_back(slot);
  }

 private:
  struct SlotsOfNode {
    std::int32_t first = 0, slots = 0;
  };
  std::vector<std::size_t> first_;
  std::vector<std::int32_t> nodes_;
  std::vector<SlotsOfNode> slots_;
};

} // namespace kumihimo::mapping
