// Routes as Python sees them.
#pragma once

#include "topology/topology.hpp"

#include <fmt/format.h>
#include <nanobind/nanobind.h>

#include <cstdint>
#include <vector>

namespace kumihimo {

// The numbers of the links that a message crosses, in order. Raises IndexError where there is no such node.
inline std::vector<std::int64_t> link_numbers(const Topology& network, std::int32_t from, std::int32_t to) {
  for (const std::int32_t node : {from, to})
    if (node < 0 || node >= network.nodes())
      throw nanobind::index_error(fmt::format("node {} of {}", node, network.nodes()).c_str());
  std::vector<LinkId> route;
  network.append_route(NodeId{from}, NodeId{to}, route);
  std::vector<std::int64_t> numbers;
  for (const LinkId link : route) numbers.push_back(link.value);
  return numbers;
}

} // namespace kumihimo
