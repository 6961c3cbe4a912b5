// Tests of the claims that a schedule makes: see Claims in schedule.hpp.
#pragma once

#include "topology/rank_space.hpp"
#include "verify/post_condition.hpp"
#include "verify/report.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::verify {

// neighbours_only and link_disjoint: every message along one link of the space's shape; and no directed link in two
// lanes of one phase. Phase 0 are the lanes that are `after` none; a lane is one phase later than those it is after.
class LinkClaims {
 public:
  LinkClaims(const Subject& schedule, const RankSpace& space, std::size_t most_findings);

  void add(const Program& program, Rank rank, std::vector<Finding>& findings); // every rank once

 private:
  const Subject& schedule_;
  const RankSpace& space_;
  std::size_t most_;
};

// Symmetry, for consumers that want to build one program and shift it: the program of each rank is rank 0's with peers
// moved by the torus translation that moves place 0 to its place. Extents are not compared: only who talks to whom, in
// which loops and buffers. The first rank that differs, or -1.
std::int32_t first_asymmetric_rank(const ProgramSet& schedule, const RankSpace& space);

} // namespace kumihimo::verify
