// Source graph files of Scotch, .grf (user's guide of Scotch 7.0, section 5.1).
//
//   0              version
//   3 4            vertices, and edges counted at both of their ends
//   0 010          number of the first vertex; format: weights of vertices (1), of edges (10), labels (100)
//   1 500 1        for each vertex: number of neighbours, then weight of the edge and neighbour for each of them
//   2 500 0 20 2
//   1 20 1
#pragma once

#include "traffic/traffic.hpp"

#include <string_view>

namespace kumihimo {

// Vertices are ranks in their order; labels, if the file has them, are a permutation of the numbers of vertices, and a
// vertex is the rank of its label. A weight w is w bytes each way in one message; without weights it is 1. Weights of
// vertices are ignored. As in Scotch any whitespace separates numbers. Errors name the line: what is no such graph; an
// edge without its mirror, or with another weight there; an edge to itself or twice; a number of edges that differs
// from the head.
Result<Traffic> parse_scotch_graph(std::string_view text, std::string_view file);

} // namespace kumihimo
