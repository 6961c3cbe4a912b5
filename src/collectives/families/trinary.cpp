// trinaryx3, trinaryx6, trinary_mesh, trinaryx3_overlap: broadcast, reduce and allreduce for long messages on a torus
// or mesh of n dimensions.
//
// Idea: n spanning trees that share no directed link; the message is cut in n parts, one a tree, each
//   pipelined in segments between neighbours, so that nothing collides. With d = v - root (per axis, modulo the
//   length), the parent of v in tree t is v - e_t where d_t = 0, and v - e_a otherwise, a being the last axis in the
//   cyclic order t, t+1, ... with d_a != 0. Mirrored to the other direction they are 2n trees (trinaryx6 in three
//   dimensions). Reduce is broadcast backwards: own value first, then the children in ascending order of height, ties
//   by axis, then direction; so all ranks and all runs give the same bits.
// Wins: long messages on a torus, where topology-blind algorithms collide; loses short ones to log P
//   algorithms.
// Special cases: axes of length 1 are dropped. A mesh has no wrap-around link (trinary_mesh, ours): there d is signed
//   and chains leave the root's plane on both sides; the plane d_t = 0 is completed from its inner neighbour, against
//   the direction of every chain, so that the trees still share no link. 2n trees need rings of 3 or more, since + and
//   - are one cable on an axis of length 2. The two phases follow each other as on the K computer; trinaryx3_overlap
//   (ours) broadcasts each segment as soon as it is reduced.
// Reference: Matsumoto et al., Implementation and evaluation of MPI_Allreduce on the K computer, SACSIS
//   2012; Adachi et al., CSRD 28(2-3), 2013, doi:10.1007/s00450-012-0211-7. Edge-disjoint fences: Simmen 1991; Barnett
//   et al. 1996; Watts and van de Geijn 1995.
#include "collectives/patterns/trees/tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cstdlib>
#include <tuple>

namespace kumihimo {
namespace {

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

// The last position with a non-zero offset, or -1 at the root.
std::int32_t last_nonzero(const std::vector<std::int32_t>& d) {
  for (auto q = static_cast<std::int32_t>(d.size()) - 1; q >= 0; --q)
    if (d[q] != 0) return q;
  return -1;
}

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

// Differences between the algorithms.
struct TrinaryForm {
  std::string_view summary;
  bool on_mesh = false;         // else every axis wraps
  bool both_directions = false; // 2n trees unless asked otherwise
  bool overlap = false;         // an allreduce broadcasts each segment as soon as it is reduced
  bool extension = true;
};
constexpr TrinaryForm x3{.summary = "link-disjoint spanning trees of a torus, one per dimension, pipelined",
                         .extension = false};
constexpr TrinaryForm x6{.summary = "trinaryx3 in both directions of every ring: two trees per dimension",
                         .both_directions = true};
constexpr TrinaryForm x3_overlap{.summary = "trinaryx3 whose broadcast follows its reduce segment by segment",
                                 .overlap = true};
constexpr TrinaryForm mesh{.summary = "trinaryx3 with two-sided chains on axes without wrap-around", .on_mesh = true};

struct TrinaryRecipe {
  TrinaryForm form;

  Result<Schedule> operator()(const Collective& collective, const RankSpace& space, const Parameters& p) const {
    if (!space.has_shape()) return not_applicable("the algorithm needs a torus or mesh", space.name());
    const auto& axes = space.shape().axes();
    const bool torus = std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.wraps || a.length <= 2; });
    const bool rings =
        std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.length == 1 || a.is_ring(); });
    if (!form.on_mesh && !torus)
      return not_applicable("the algorithm needs the wrap-around links that a mesh axis lacks", space.shape().text());
    if (form.on_mesh && torus) return not_applicable("every axis of the shape wraps", {}, "use trinaryx3");

    const Rank root = collective.kind == CollectiveKind::allreduce ? Rank{0} : collective.root;
    const TrinaryTrees one_way(space, root, false);
    const std::int64_t n = one_way.dimensions(), most = rings ? 2 * n : n;
    const std::int64_t k = p.trees.value_or(form.both_directions ? 2 * n : n);
    if (k > most)
      return not_applicable(
          fmt::format("trees must be at most {} on shape {}, so that they share no link{}", most, space.shape().text(),
                      rings ? "" : " (trees in both directions need rings of 3 or more on every axis)"),
          k);
    TreeOptions o;
    o.segments = TRY(choose_segments(collective, p, k));
    o.window = p.window.value();
    o.overlap = p.overlap.value_or(false);
    o.claims.neighbours_only = true;
    // Reduce runs against the direction of broadcast. At the same time they share no link only where each direction has
    // links of its own and the trees use one of them.
    o.claims.link_disjoint = !o.overlap || (torus && rings && k <= n);
    for (std::int64_t t = 0; t < std::min(k, n); ++t) o.claims.height = std::max(o.claims.height, one_way.height(t));
    return tree_schedule(
        collective,
        {k, [trees = TrinaryTrees(space, root, k > n)](std::int64_t t, Rank r) { return trees.place(t, r); }}, o);
  }
};

std::int64_t trees_of(const CostCase& c, bool both_directions) {
  const std::int64_t n = std::max<std::int64_t>(1, TrinaryTrees(c.space, c.collective.root, false).dimensions());
  return c.parameters.trees.value_or(both_directions ? 2 * n : n);
}

double height_of(const CostCase& c, bool both_directions) {
  const TrinaryTrees trees(c.space, c.collective.root, false);
  std::int64_t most = 0;
  for (std::int64_t t = 0; t < std::min(trees_of(c, both_directions), trees.dimensions()); ++t)
    most = std::max(most, trees.height(t));
  return static_cast<double>(most);
}

// The times of broadcast, of reduce, and of both segment by segment, with k trees, the highest of height h.
struct TrinaryTimes {
  Formula bcast, reduce, overlapped;

  explicit TrinaryTimes(bool both_directions) {
    using namespace cost;
    const Formula k("k", [=](const CostCase& c) { return static_cast<double>(trees_of(c, both_directions)); });
    const Formula h("h", [=](const CostCase& c) { return height_of(c, both_directions); });
    const Formula m = n / (k * S);
    bcast = h * (alpha + m * beta) + (S - 1) * max(d * alpha, alpha + m * beta);
    reduce = (h + S - 1) * (alpha + m * beta) + h * m * gamma;
    overlapped =
        h * (2 * (alpha + m * beta) + m * gamma) + (S - 1) * max(max(d * alpha, alpha + m * beta), 2 * m * beta);
  }
};

Variant trinary_row(const TrinaryForm& form, Formula time) {
  Variant v{.summary = std::string(form.summary),
            .cost = {std::move(time)},
            .reference = "Matsumoto et al., SACSIS 2012; Adachi et al., CSRD 28 (2013)",
            .parameters = tree_parameters("the machine's", form.overlap),
            .extension = form.extension,
            .recipe = TrinaryRecipe{form}};
  v.parameters.insert(v.parameters.begin(),
                      {parameter::trees, DerivedDefault{form.both_directions ? "2 x dimensions" : "dimensions"}});
  return v;
}

Variant trinary_bcast(const TrinaryForm& form) { return trinary_row(form, TrinaryTimes(form.both_directions).bcast); }
Variant trinary_reduce(const TrinaryForm& form) { return trinary_row(form, TrinaryTimes(form.both_directions).reduce); }
Variant trinary_allreduce(const TrinaryForm& form) {
  const TrinaryTimes time(form.both_directions);
  return trinary_row(form, form.overlap ? time.overlapped : time.reduce + time.bcast);
}

} // namespace

Variant bcast_trinaryx3::row() { return trinary_bcast(x3); }
Variant bcast_trinaryx6::row() { return trinary_bcast(x6); }
Variant bcast_trinary_mesh::row() { return trinary_bcast(mesh); }

Variant reduce_trinaryx3::row() { return trinary_reduce(x3); }
Variant reduce_trinaryx6::row() { return trinary_reduce(x6); }
Variant reduce_trinary_mesh::row() { return trinary_reduce(mesh); }

Variant allreduce_trinaryx3::row() { return trinary_allreduce(x3); }
Variant allreduce_trinaryx6::row() { return trinary_allreduce(x6); }
Variant allreduce_trinaryx3_overlap::row() { return trinary_allreduce(x3_overlap); }
Variant allreduce_trinary_mesh::row() { return trinary_allreduce(mesh); }

} // namespace kumihimo
