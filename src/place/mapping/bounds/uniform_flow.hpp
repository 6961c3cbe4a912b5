// Uniform flow: what every pair of ranks could send each other at once over the edges of the graph, as if the bytes of
// an edge were its capacity. A cut with s of n ranks on one side separates s (n - s) pairs, so it has at least the flow
// of a pair times s (n - s) bytes (Leighton and Rao, J. ACM 46, 1999). Any flow proves this, however far from the best.
#pragma once

#include "mapping/bounds/symmetry.hpp"
#include "mapping/search/tools.hpp"

#include <cstdint>

namespace kumihimo::mapping {

struct FlowLimits {
  double useless = 0;         // a flow of a pair at or below it is of no use
  std::int64_t terms = 0;     // about how many edges to look at
  double good_enough = 0.997; // of the best
};

// The flow of each pair, in bytes; 0: none found that is of use. Of graphs with symmetries, only routes from one rank
// of each orbit are computed.
//
// Rounding: routes follow from integer lengths; at a rank, flow divides as the bytes of edges. In exact arithmetic that
// is a flow. The computed loads are sums, products and quotients of positive numbers, so each is off by less than the
// number of operations times 2^-53 of itself. Twice that, and 2^-40 for what users of the result compute with it, is
// already subtracted.
double uniform_flow(const SymmetricPart& graph, const FlowLimits& limits, const Tools& tools);

} // namespace kumihimo::mapping
