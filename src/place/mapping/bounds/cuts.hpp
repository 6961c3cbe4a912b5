// Distances as sums of cuts: on a ring, half the number of arcs of half its length that have one of two nodes and not
// the other; on a line, the number of places between them; on a tree, the number of groups that have one of them.
#pragma once

#include "mapping/objective/host.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace kumihimo::mapping {

// Cuts of the nodes in two. Two nodes are at least as far apart as the sum over all families of halves / 2 for each cut
// that separates them.
struct CutFamily {
  std::int32_t halves = 1;           // of a hop
  std::int64_t cuts = 1;             // so many of them
  std::int64_t fewest = 0, most = 0; // ranks on one side of each
  std::int64_t ranks_in_all = -1;    // on that side of all cuts together; -1: between the two
  std::int32_t link_class = -1;      // each separation by a cut is halves / 2 links of this class; -1: unknown
};

// Families of cuts for `ranks` on different slots. None: a single node, or a network whose distances are no such sum.
std::vector<CutFamily> cut_families(const MappingHost& host, std::int64_t ranks);

// The fewest bytes of a cut, times the cuts of the family, if a cut with s ranks on a side has `flow` s (ranks - s) at
// least. unit: all bytes are multiples of it.
double fewest_bytes(const CutFamily& family, double flow, std::int64_t ranks, std::int64_t unit);
// The same, in hop-bytes.
double fewest_hop_bytes(const std::vector<CutFamily>& families, double flow, std::int64_t ranks, std::int64_t unit);

} // namespace kumihimo::mapping
