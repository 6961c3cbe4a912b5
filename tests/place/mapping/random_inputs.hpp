// Random traffic, maps and hosts for tests of the search.
#pragma once

#include "mapping/objective/assignment.hpp"
#include "mapping/objective/host.hpp"
#include "mapping/search/tools.hpp"
#include "traffic/traffic.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>
#include <vector>

namespace kumihimo::mapping {

// About three flows a rank, of less than 1,000 bytes each.
inline Traffic any_traffic(std::int32_t ranks, Random& random) {
  TrafficBuilder builder = *TrafficBuilder::make(ranks);
  const auto any = [&] { return Rank{static_cast<std::int32_t>(random.below(static_cast<std::uint64_t>(ranks)))}; };
  EXPECT_TRUE(builder.add(Rank{0}, Rank{1}, 5, 1).ok());
  for (std::int32_t line = 0; line < 3 * ranks; ++line)
    EXPECT_TRUE(builder.add(any(), any(), static_cast<std::int64_t>(random.below(1000)), 1).ok());
  return *std::move(builder).build();
}

// The same traffic with its ranks numbered in another way.
inline Traffic with_other_numbers(const Traffic& traffic, std::uint64_t seed) {
  Random random(seed);
  std::vector<Rank> order;
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank) order.push_back(Rank{rank});
  for (std::size_t at = order.size(); at > 1; --at) std::swap(order[at - 1], order[random.below(at)]);
  return traffic.renumbered(order);
}

// Up to three slots a node, some with none, and four on the first.
inline MappingHost with_uneven_slots(const TopologyPtr& network, Random& random) {
  std::vector<std::int32_t> sizes;
  for (std::int32_t node = 0; node < network->nodes(); ++node)
    sizes.push_back(static_cast<std::int32_t>(random.below(4)));
  sizes[0] = 4;
  return *MappingHost::make(network, *Slots::of_nodes(sizes));
}

} // namespace kumihimo::mapping
