// Graph files of METIS (manual of METIS 5.1, section 4.1.1).
//
//   % a comment
//   3 2 001        vertices, edges, format: weights of edges (1), of vertices (10), sizes of vertices (100)
//   2 500          one line for each vertex: its neighbours, counted from 1, each with the weight of the edge
//   1 500 3 20
//   2 20
#pragma once

#include "traffic/traffic.hpp"

#include <string_view>

namespace kumihimo {

// Vertex v is rank v - 1. A weight w is w bytes each way in one message; without weights it is 1. Sizes and weights of
// vertices are read and ignored. Errors name the line: what is no METIS graph; an edge without its mirror, or with
// another weight there; an edge to itself or twice; numbers of vertices or edges that differ from the head.
Result<Traffic> parse_metis(std::string_view text, std::string_view file);

} // namespace kumihimo
