// Shared parts of METIS and Scotch graphs: each edge is written at both of its ends, with one weight.
#pragma once

#include "traffic/traffic.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

// An edge as one of its ends has it. Vertices count from 0.
struct GraphArc {
  std::int32_t from = 0, to = 0;
  std::int64_t weight = 1;
};

struct UndirectedGraph {
  std::string_view file, kind; // "METIS"
  std::int32_t base = 0;       // the number of the first vertex in the file
  std::vector<std::int64_t> line_of_vertex;
  std::vector<GraphArc> arcs; // as read

  std::string place(std::int32_t vertex) const; // "g.graph:12"
};

// A weight w is w bytes each way, in one message. Errors name the line of the vertex: an edge to itself; an edge twice;
// an edge without its mirror, or with another weight there.
Result<Traffic> traffic_of(UndirectedGraph graph);

// The other end and the weight of an edge, as words of a file. Error: no such vertex; a weight below 1.
Result<GraphArc> arc_of(const UndirectedGraph& graph, std::int32_t from, std::int64_t to, std::int64_t weight);

} // namespace kumihimo
