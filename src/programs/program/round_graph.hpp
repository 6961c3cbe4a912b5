// The rounds of one segment of a lane with its loops expanded, and which rounds each waits for: the rule of `in_flight`
// and `together` for the engine and the exact simulator.
#pragma once

#include "program/program.hpp"

#include <optional>

namespace kumihimo {

struct RoundGraph {
  struct Vertex {
    const Round* round = nullptr; // null: it has no steps, and joins what starts together
    LoopValues values{};          // of the loops' variables; 0 for the segment
  };
  struct Edge { // `to` starts once all its `from` are complete
    std::int32_t from = 0, to = 0;
    auto operator<=>(const Edge&) const = default;
  };
  std::vector<Vertex> vertices; // in program order
  std::vector<Edge> edges;
  bool is_chain = true; // each vertex waits for the one before it, and for nothing else
};

// The graph of a lane, which must outlive it; none if it has more than `most` vertices.
std::optional<RoundGraph> round_graph(const Lane& lane, std::int64_t most);

} // namespace kumihimo
