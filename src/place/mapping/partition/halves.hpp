// Two parts of a graph of exact sizes, and how they are improved.
#pragma once

#include "mapping/objective/graph.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::mapping {

// pull[v] > 0: v is drawn to part 0 by what lies outside (Partitioner::halve).
struct Halving {
  const TrafficGraph& graph;
  std::int32_t first = 0; // vertices of part 0
  std::span<const std::int64_t> pull;
};

// Bytes between the parts, and of the pulls that are not followed.
std::int64_t cut_bytes(const Halving& halving, std::span<const char> part);

// Moves vertices of least loss until part 0 has exactly `first`. O((vertices moved + edges) log vertices).
void make_exact(const Halving& halving, std::vector<char>& part);

// Moves vertices to and fro while the cut falls; the sizes of the parts stay. At most `passes` passes.
// Source: Fiduccia, Mattheyses: A Linear-Time Heuristic for Improving Network Partitions, DAC 1982.
void refine(const Halving& halving, std::vector<char>& part, int passes = 8);

} // namespace kumihimo::mapping
