// The partners of ranks: each has one, and is one.
#include "saved_state/partners.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

namespace kumihimo::saved_state {
namespace {

TEST(PartnersOfRanks, AreOnOtherNodesWhereThatIsPossible) {
  const std::vector<std::vector<std::int64_t>> cases = {
      {0, 0, 0}, {0, 1}, {0, 0, 1, 1}, {0, 1, 0, 1, 0, 1}, {0, 0, 0, 1, 1, 2}, {5, 5, 2, 9}, {0, 0, 0, 1}};
  for (const std::vector<std::int64_t>& nodes : cases) {
    const std::vector<std::int32_t> partner = partners_of(nodes);
    EXPECT_EQ(std::set<std::int32_t>(partner.begin(), partner.end()).size(), nodes.size());
    std::ptrdiff_t largest = 0;
    for (const std::int64_t node : nodes) largest = std::max(largest, std::ranges::count(nodes, node));
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      EXPECT_NE(partner[rank], static_cast<std::int32_t>(rank));
      if (2 * largest <= static_cast<std::ptrdiff_t>(nodes.size())) {
        EXPECT_NE(nodes[static_cast<std::size_t>(partner[rank])], nodes[rank]);
      }
    }
  }
  EXPECT_EQ(partners_of({4}), std::vector<std::int32_t>{0});
}

} // namespace
} // namespace kumihimo::saved_state
