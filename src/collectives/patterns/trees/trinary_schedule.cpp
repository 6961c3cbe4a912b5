// trinaryx3: broadcast, reduce and allreduce for long messages on a torus of n dimensions.
//
// Idea: n spanning trees that share no directed link; the message is cut in n parts, one a tree, each
//   pipelined in segments between neighbours, so that nothing collides. Mirrored to the other direction
//   they are 2n trees (trinaryx6 in three dimensions). Reduce is broadcast backwards: own value first,
//   then the children in ascending order of height, ties by axis, then direction; so all ranks and all
//   runs give the same bits.
// Wins: long messages on a torus, where topology-blind algorithms collide; loses short ones to log P
//   algorithms.
// Cost, k trees of height h = sum of lengths - n + 1, S segments: broadcast (h + S - 1)(alpha + n beta /
//   (k S)); allreduce twice that, its first half plus n gamma (up to n children over the n trees of a
//   node).
// Special cases: axes of length 1 are dropped. A mesh has no wrap-around link: trinary_mesh. 2n trees need
//   rings of 3 or more, since + and - are one cable on an axis of length 2. The two phases follow each
//   other as on the K computer; trinaryx3_overlap (ours) broadcasts each segment as soon as it is reduced.
// Reference: Matsumoto et al., Implementation and evaluation of MPI_Allreduce on the K computer, SACSIS
//   2012; Adachi et al., CSRD 28(2-3), 2013, doi:10.1007/s00450-012-0211-7.
#include "collectives/patterns/trees/trinary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace kumihimo {
namespace {

enum class Kind { torus, mesh };

struct Recipe {
  Kind kind = Kind::torus;
  bool both_directions = false; // 2n trees unless asked otherwise
  bool overlap = false;

  Result<Schedule> operator()(const Collective& collective, const RankSpace& space, const Parameters& p) const {
    if (!space.has_shape())
      return not_applicable(fmt::format("it needs a torus or mesh, and the ranks are a {}", space.name()));
    const auto& axes = space.shape().axes();
    const bool torus = std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.wraps || a.length <= 2; });
    const bool rings =
        std::all_of(axes.begin(), axes.end(), [](const Axis& a) { return a.length == 1 || a.is_ring(); });
    if (kind == Kind::torus && !torus)
      return not_applicable(fmt::format("{} has a mesh axis, which has no wrap-around link", space.shape().text()));
    if (kind == Kind::mesh && torus) return not_applicable("every axis wraps: use trinaryx3");

    const Rank root = collective.kind == CollectiveKind::allreduce ? Rank{0} : collective.root;
    const TrinaryTrees one_way(space, root, false);
    const std::int64_t n = one_way.dimensions(), most = rings ? 2 * n : n;
    const std::int64_t k = p.trees.value_or(both_directions ? 2 * n : n);
    if (k > most)
      return not_applicable(fmt::format(
          "{} link-disjoint trees do not exist on {}: {}{}", k, space.shape().text(), fmt::format("at most {}", most),
          rings ? "" : ", since trees in both directions need every axis to be a ring of 3 or more"));
    TreeOptions o;
    const Result<Segments> segments = choose_segments(collective, p, k);
    if (!segments) return segments.error();
    o.segments = *segments;
    o.window = window_of(p);
    o.overlap = p.overlap.value_or(overlap);
    o.claims.neighbours_only = true;
    // Reduce runs against the direction of broadcast. At the same time they share no link only where each direction has
    // links of its own and the trees use one of them.
    o.claims.link_disjoint = !o.overlap || collective.kind != CollectiveKind::allreduce || (torus && rings && k <= n);
    for (std::int64_t t = 0; t < std::min(k, n); ++t) o.claims.height = std::max(o.claims.height, one_way.height(t));
    return tree_schedule(
        collective,
        {k, [trees = TrinaryTrees(space, root, k > n)](std::int64_t t, Rank r) { return trees.place(t, r); }}, o);
  }
};

Variant row_of(std::string name, std::string summary, Recipe recipe, bool apart) {
  Variant v;
  v.name = std::move(name);
  v.summary = std::move(summary);
  v.cost = "allreduce 2(h + S - 1)(α + nβ/(kS)) + nγ; bcast and reduce half of it; h = Σ lengths - dimensions + 1";
  v.reference = "Matsumoto et al., SACSIS 2012; Adachi et al., CSRD 28 (2013)";
  v.parameters = tree_parameters("the machine's");
  v.parameters.insert(v.parameters.begin(), {"trees", recipe.both_directions ? "2 x dimensions" : "dimensions",
                                             "link-disjoint spanning trees"});
  v.apart = apart;
  v.recipe = recipe;
  return v;
}

} // namespace

Rows trinaryx3_rows() {
  Rows rows = tree_rows(row_of("trinaryx3", "link-disjoint spanning trees of a torus, one a dimension, pipelined",
                               {Kind::torus, false, false}, false));
  const auto add = [&](Rows more) { std::move(more.begin(), more.end(), std::back_inserter(rows)); };
  add(tree_rows(row_of("trinaryx6", "trinaryx3 in both directions of every ring: two trees a dimension",
                       {Kind::torus, true, false}, true)));
  // Of an allreduce alone: the others have one phase, and nothing to overlap.
  rows.push_back(row_of("trinaryx3_overlap", "trinaryx3 whose broadcast follows its reduce segment by segment",
                        {Kind::torus, false, true}, true));
  rows.back().kind = CollectiveKind::allreduce;
  add(tree_rows(row_of("trinary_mesh", "trinaryx3 with two-sided chains on axes without wrap-around",
                       {Kind::mesh, false, false}, true)));
  return rows;
}

} // namespace kumihimo
