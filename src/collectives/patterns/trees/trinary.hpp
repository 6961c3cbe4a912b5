// The arithmetic of the trinary trees: n spanning trees of an n-dimensional torus that share no directed link. With
// d = v - root (per axis, modulo the length), the parent of v in tree t is v - e_t where d_t = 0, and v - e_a
// otherwise, a being the last axis in the cyclic order t, t+1, ... with d_a != 0.
//
// On a mesh axis (ours) d is signed and chains leave the root's plane on both sides; the plane d_t = 0 is completed
// from its inner neighbour, against the direction of every chain, so that the trees still share no link.
//
// Sources: Matsumoto et al., SACSIS 2012 (K computer); edge-disjoint fences: Simmen 1991; Barnett et al. 1996; Watts
// and van de Geijn 1995.
#pragma once

#include "collectives/patterns/trees/tree.hpp"

namespace kumihimo {

class TrinaryTrees {
 public:
  // Axes of length 1 are dropped. `mirrored`: trees t + dimensions() run in the opposite direction.
  TrinaryTrees(RankSpace space, Rank root, bool mirrored);

  std::int64_t dimensions() const { return static_cast<std::int64_t>(axes_.size()); }
  TreePlace place(std::int64_t tree, Rank rank) const;
  std::int64_t height(std::int64_t tree) const; // of the root

 private:
  struct Arm { // an axis as seen from the root
    std::int32_t axis = 0, length = 1, root = 0;
    bool ring = true;
    std::int32_t plus_reach() const { return ring ? length - 1 : length - 1 - root; }
    std::int32_t minus_reach() const { return ring ? 0 : root; }
    std::int32_t reach() const { return std::max(plus_reach(), minus_reach()); }
    // The offset from which the plane at 0 is completed.
    std::int32_t completing() const { return ring ? length - 1 : plus_reach() > 0 ? 1 : -1; }
  };
  using Offsets = std::vector<std::int32_t>; // per arm, in the tree's axis order

  std::vector<Arm> order(std::int64_t tree) const;
  Offsets offsets(const std::vector<Arm>& order, Rank rank, bool mirror) const;
  Rank moved(Rank rank, const Arm& arm, std::int32_t steps, bool mirror) const;
  static std::int64_t height(const std::vector<Arm>& order, const Offsets& d);

  RankSpace space_;
  Rank root_;
  bool mirrored_;
  std::vector<Arm> axes_;
};

// A family of algorithms over these trees.
struct Trinary {
  std::string_view summary;
  bool mesh = false;            // else every axis wraps
  bool both_directions = false; // 2n trees unless asked otherwise
  bool overlap = false;         // an allreduce broadcasts each segment as soon as it is reduced
  bool extension = true;
};
inline constexpr Trinary trinaryx3{"link-disjoint spanning trees of a torus, one per dimension, pipelined", false,
                                   false, false, false};
inline constexpr Trinary trinaryx6{"trinaryx3 in both directions of every ring: two trees per dimension", false, true};
inline constexpr Trinary trinaryx3_overlap{"trinaryx3 whose broadcast follows its reduce segment by segment", false,
                                           false, true};
inline constexpr Trinary trinary_mesh{"trinaryx3 with two-sided chains on axes without wrap-around", true};

Variant trinary(const Trinary& family, Cost cost);

// Its trees k and the height h of the highest; the times of broadcast, of reduce, and of both segment by segment.
Formula trinary_count(const Trinary& family);
Formula trinary_height(const Trinary& family);
Formula trinary_bcast(const Trinary& family);
Formula trinary_reduce(const Trinary& family);
Formula trinary_overlapped(const Trinary& family);

} // namespace kumihimo
