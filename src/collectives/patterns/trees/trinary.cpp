#include "collectives/patterns/trees/trinary.hpp"

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <tuple>

namespace kumihimo {
namespace {

// The last position with a non-zero offset, or -1 at the root.
std::int32_t last_nonzero(const std::vector<std::int32_t>& d) {
  for (auto q = static_cast<std::int32_t>(d.size()) - 1; q >= 0; --q)
    if (d[q] != 0) return q;
  return -1;
}

} // namespace

TrinaryTrees::TrinaryTrees(RankSpace space, Rank root, bool mirrored)
    : space_(std::move(space)), root_(root), mirrored_(mirrored) {
  const Shape& shape = space_.shape();
  for (std::int32_t a = 0; a < shape.dimensions(); ++a) {
    const Axis& axis = shape.axes()[a];
    if (axis.length == 1) continue;
    // An axis of length 2 has one cable either way; as a ring it needs no second side.
    axes_.push_back({a, axis.length, shape.coordinate(space_.place(root), a), axis.wraps || axis.length == 2});
  }
}

std::vector<TrinaryTrees::Arm> TrinaryTrees::order(std::int64_t tree) const {
  std::vector<Arm> arms = axes_;
  std::rotate(arms.begin(), arms.begin() + tree % dimensions(), arms.end());
  return arms;
}

TrinaryTrees::Offsets TrinaryTrees::offsets(const std::vector<Arm>& arms, Rank rank, bool mirror) const {
  Offsets d(arms.size());
  const std::int32_t place = space_.place(rank);
  for (std::size_t i = 0; i < arms.size(); ++i) {
    const Arm& arm = arms[i];
    d[i] = space_.shape().coordinate(place, arm.axis) - arm.root;
    if (mirror) d[i] = -d[i];
    if (arm.ring) d[i] = (d[i] + arm.length) % arm.length;
  }
  return d;
}

Rank TrinaryTrees::moved(Rank rank, const Arm& arm, std::int32_t steps, bool mirror) const {
  return space_.rank_at(space_.shape().shifted(space_.place(rank), arm.axis, mirror ? -steps : steps));
}

std::int64_t TrinaryTrees::height(const std::vector<Arm>& arms, const Offsets& d) {
  const std::int32_t q = last_nonzero(d);
  const auto reach_after = [&](std::int32_t from) {
    std::int64_t sum = 0;
    for (std::size_t i = from; i < arms.size(); ++i) sum += arms[i].reach();
    return sum;
  };
  const std::int32_t completing = arms[0].completing();
  if (q < 0) { // the root: its child, or two on a mesh axis
    std::int64_t most = 0;
    for (std::int32_t side : {1, -1}) {
      if ((side > 0 ? arms[0].plus_reach() : arms[0].minus_reach()) == 0) continue;
      Offsets child = d;
      child[0] = side;
      most = std::max(most, 1 + height(arms, child));
    }
    return most;
  }
  if (d[0] == 0) return 0; // completed last
  const std::int64_t remaining = d[q] > 0 ? arms[q].plus_reach() - d[q] : arms[q].minus_reach() + d[q];
  const std::int64_t later = reach_after(q + 1);
  if (q > 0) return remaining + later + (d[0] == completing);
  if (later == 0) return remaining; // one dimension: a chain
  // On the first chain: the end of the chain, or the subtree that completes the root's plane, whichever is farther.
  const bool meets = d[0] > 0 ? completing >= d[0] : completing <= d[0];
  const std::int64_t to_completing = meets ? std::abs(completing - d[0]) + 1 : 0;
  return later + std::max(remaining, to_completing);
}

std::int64_t TrinaryTrees::height(std::int64_t tree) const {
  const auto arms = order(tree);
  return height(arms, Offsets(arms.size(), 0));
}

TreePlace TrinaryTrees::place(std::int64_t tree, Rank rank) const {
  const bool mirror = mirrored_ && tree >= dimensions();
  const std::vector<Arm> arms = order(tree);
  const Offsets d = offsets(arms, rank, mirror);
  const std::int32_t q = last_nonzero(d);
  const Arm& first = arms[0];
  const std::int32_t completing = first.completing();
  const std::int32_t completing_step = first.ring ? 1 : -completing; // from the completing neighbour into the plane

  TreePlace place;
  if (q >= 0 && d[0] == 0)
    place.parent = moved(rank, first, -completing_step, mirror);
  else if (q >= 0)
    place.parent = moved(rank, arms[q], d[q] > 0 ? -1 : 1, mirror);

  struct Candidate {
    TreePlace::Child child;
    std::int32_t axis, direction;
  };
  std::vector<Candidate> candidates;
  const auto add = [&](std::int32_t position, std::int32_t step, const Offsets& of_child) {
    const std::int32_t direction = mirror ? -step : step;
    candidates.push_back({{moved(rank, arms[position], step, mirror), height(arms, of_child), false},
                          arms[position].axis,
                          direction > 0 ? 0 : 1});
  };
  const auto extend = [&](std::int32_t position, std::int32_t step) { // a chain along an arm, if it has room
    const std::int32_t to = d[position] + step;
    if (step > 0 ? to > arms[position].plus_reach() : -to > arms[position].minus_reach()) return;
    Offsets of_child = d;
    of_child[position] = to;
    add(position, step, of_child);
  };
  if (q < 0) {
    extend(0, 1), extend(0, -1);
  } else if (d[0] != 0) {
    extend(q, d[q] > 0 ? 1 : -1);
    for (auto i = q + 1; i < static_cast<std::int32_t>(arms.size()); ++i) extend(i, 1), extend(i, -1);
    if (d[0] == completing && q > 0) {
      Offsets of_child = d;
      of_child[0] = 0;
      add(0, completing_step, of_child);
    }
  }
  std::sort(candidates.begin(), candidates.end(), [](const Candidate& a, const Candidate& b) {
    return std::tie(a.child.height, a.axis, a.direction) < std::tie(b.child.height, b.axis, b.direction);
  });
  for (const Candidate& c : candidates) place.children.push_back(c.child);
  return place;
}

} // namespace kumihimo
