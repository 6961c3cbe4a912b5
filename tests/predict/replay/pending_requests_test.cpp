#include "replay/pending_requests.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace kumihimo::replay {
namespace {

// Requests that start in their order and end in any, and some whose numbers are far apart.
TEST(PendingRequests, AreThoseOfAMap) {
  std::mt19937 chance(3);
  PendingRequests pending;
  std::map<std::uint32_t, std::uint32_t> golden;
  std::uint32_t next = 1;
  for (std::uint32_t n = 0; n < 200'000; ++n) {
    if (chance() % 2 == 0) {
      const std::uint32_t request = chance() % 8 == 0 ? 1 + chance() % 0xFFFFFFFEU : next++;
      pending.put(request, n);
      golden[request] = n;
    } else {
      const std::uint32_t low = next > 40 ? next - 40 : 1;
      const std::uint32_t request = golden.empty() || chance() % 8 == 0 ? 1 + chance() % 1000 : low + chance() % 40;
      const auto found = pending.take(request);
      const auto at = golden.find(request);
      ASSERT_EQ(found.has_value(), at != golden.end()) << request;
      if (!found) continue;
      ASSERT_EQ(*found, at->second);
      golden.erase(at);
    }
  }
  std::map<std::uint32_t, int> left;
  pending.for_each([&](std::uint32_t at) { ++left[at]; });
  EXPECT_EQ(left.size(), golden.size());
  for (const auto& [request, at] : golden) EXPECT_EQ(left[at], 1) << request;
  EXPECT_FALSE(pending.take(0));
}

} // namespace
} // namespace kumihimo::replay
