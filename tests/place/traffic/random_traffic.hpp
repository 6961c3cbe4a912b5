// Random traffic for tests of readers and writers.
#pragma once

#include "traffic/traffic.hpp"

#include <gtest/gtest.h>

#include <random>

namespace kumihimo {

struct RandomTraffic {
  std::int32_t most_ranks = 20;
  bool undirected = false; // equal bytes both ways, and one message for each flow
};

inline Traffic random_traffic(std::mt19937& random, const RandomTraffic& kind) {
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  const auto ranks = static_cast<std::int32_t>(below(kind.most_ranks - 1) + 2);
  std::vector<std::vector<bool>> has(static_cast<std::size_t>(ranks),
                                     std::vector<bool>(static_cast<std::size_t>(ranks)));
  TrafficBuilder builder = *TrafficBuilder::make(ranks);
  const auto add = [&](std::int64_t a, std::int64_t b) {
    if (a == b || has[a][b]) return;
    const Rank from{static_cast<std::int32_t>(a)}, to{static_cast<std::int32_t>(b)};
    const std::int64_t bytes = below(100'000) + 1, messages = kind.undirected ? 1 : below(9) + 1;
    has[a][b] = true;
    EXPECT_TRUE(builder.add(from, to, bytes, messages).ok());
    if (!kind.undirected) return;
    has[b][a] = true;
    EXPECT_TRUE(builder.add(to, from, bytes, messages).ok());
  };
  add(0, 1);
  for (std::int64_t edges = below(std::int64_t{3} * ranks); edges > 0; --edges) add(below(ranks), below(ranks));
  return *std::move(builder).build();
}

} // namespace kumihimo
