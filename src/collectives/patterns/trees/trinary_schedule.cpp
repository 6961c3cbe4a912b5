// trinaryx3: broadcast, reduce and allreduce for long messages on a torus of n dimensions.
//
// Idea: n spanning trees that share no directed link; the message is cut in n parts, one a tree, each
//   pipelined in segments between neighbours, so that nothing collides. Mirrored to the other direction
//   they are 2n trees (trinaryx6 in three dimensions). Reduce is broadcast backwards: own value first,
//   then the children in ascending order of height, ties by axis, then direction; so all ranks and all
//   runs give the same bits.
// Wins: long messages on a torus, where topology-blind algorithms collide; loses short ones to log P
//   algorithms.
// Special cases: axes of length 1 are dropped. A mesh has no wrap-around link: trinary_mesh. 2n trees need
//   rings of 3 or more, since + and - are one cable on an axis of length 2. The two phases follow each
//   other as on the K computer; trinaryx3_overlap (ours) broadcasts each segment as soon as it is reduced.
// Reference: Matsumoto et al., Implementation and evaluation of MPI_Allreduce on the K computer, SACSIS
//   2012; Adachi et al., CSRD 28(2-3), 2013, doi:10.1007/s00450-012-0211-7.
#include "collectives/patterns/trees/trinary.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {
namespace {

struct TrinaryRecipe {
  Trinary family;

  Result<Schedule> operator()(const Collective& collective, const RankSpace& space, const Parameters& p) const {
    if (!space.has_shape()) return not_applicable("the algorithm needs a torus or mesh", space.name());
    const auto& axes = space.shape().axes();
    const bool torus = std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.wraps || a.length <= 2; });
    const bool rings =
        std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.length == 1 || a.is_ring(); });
    if (!family.mesh && !torus)
      return not_applicable("the algorithm needs the wrap-around links that a mesh axis lacks", space.shape().text());
    if (family.mesh && torus) return not_applicable("every axis of the shape wraps", {}, "use trinaryx3");

    const Rank root = collective.kind == CollectiveKind::allreduce ? Rank{0} : collective.root;
    const TrinaryTrees one_way(space, root, false);
    const std::int64_t n = one_way.dimensions(), most = rings ? 2 * n : n;
    const std::int64_t k = p.trees.value_or(family.both_directions ? 2 * n : n);
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

} // namespace

Formula trinary_count(const Trinary& family) {
  return {"k", [both = family.both_directions](const CostCase& c) { return static_cast<double>(trees_of(c, both)); }};
}
Formula trinary_height(const Trinary& family) {
  return {"h", [both = family.both_directions](const CostCase& c) { return height_of(c, both); }};
}
Formula trinary_bcast(const Trinary& family) {
  using namespace cost;
  const Formula m = n / (trinary_count(family) * S);
  return trinary_height(family) * (alpha + m * beta) + (S - 1) * max(d * alpha, alpha + m * beta);
}
Formula trinary_reduce(const Trinary& family) {
  using namespace cost;
  const Formula h = trinary_height(family), m = n / (trinary_count(family) * S);
  return (h + S - 1) * (alpha + m * beta) + h * m * gamma;
}
Formula trinary_overlapped(const Trinary& family) {
  using namespace cost;
  const Formula h = trinary_height(family), m = n / (trinary_count(family) * S);
  return h * (2 * (alpha + m * beta) + m * gamma) + (S - 1) * max(max(d * alpha, alpha + m * beta), 2 * m * beta);
}

Variant trinary(const Trinary& family, Cost cost) {
  Variant v{.summary = std::string(family.summary),
            .cost = std::move(cost),
            .reference = "Matsumoto et al., SACSIS 2012; Adachi et al., CSRD 28 (2013)",
            .parameters = tree_parameters("the machine's", family.overlap),
            .extension = family.extension,
            .recipe = TrinaryRecipe{family}};
  v.parameters.insert(v.parameters.begin(),
                      {parameter::trees, DerivedDefault{family.both_directions ? "2 x dimensions" : "dimensions"}});
  return v;
}

} // namespace kumihimo
