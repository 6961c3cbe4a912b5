// binary, double_binary: broadcast, reduce and allreduce over one or two pipelined binary trees.
//
// Idea: the ranks other than the root, numbered 1 .. P-1 from it, form a binary tree in symmetric order
//   (1-based number i stands at the height of its trailing zeros); the root stands above it. With two
//   trees, the second one mirrored (or shifted by one where P is even), every rank is an inner node of at
//   most one tree, so that each half of the message flows at full bandwidth through each.
// Wins: long messages where the network has no shape worth using; binary: half of the bandwidth,
//   double_binary all of it.
// Special cases: any number of ranks; symmetric order keeps the operands in rank order when the root is
//   rank 0 (always in an allreduce), for two trees only if the second is the mirror image (P odd).
// Reference: Sanders, Speck, Träff, Two-tree algorithms for full bandwidth broadcast, reduction and scan,
//   Parallel Computing 35(12), 2009, doi:10.1016/j.parco.2009.09.001.
#include "collectives/patterns/trees/tree.hpp"

#include <bit>
#include <optional>

namespace kumihimo {
namespace {

// The symmetric-order binary tree of the numbers 1 .. m, below 0.
struct InOrderTree {
  std::int32_t m;

  static std::int32_t height_of(std::int32_t i) { return std::countr_zero(static_cast<std::uint32_t>(i)); }
  std::int32_t top() const {
    return m == 0 ? 0 : static_cast<std::int32_t>(std::bit_floor(static_cast<std::uint32_t>(m)));
  }

  std::int32_t parent(std::int32_t i) const {
    if (i == top()) return 0;
    const std::int32_t half = 1 << height_of(i);
    const std::int32_t above = (i - half) | (2 * half); // i is its left child, or its right one
    return above <= m ? above : i - half;
  }
  std::optional<std::int32_t> left(std::int32_t i) const {
    const std::int32_t half = (1 << height_of(i)) / 2;
    return half == 0 ? std::nullopt : std::optional(i - half);
  }
  // The top of what lies to the right of i, below i's own right end: the largest complete step that still exists.
  std::optional<std::int32_t> right(std::int32_t i) const {
    for (std::int32_t half = (1 << height_of(i)) / 2; half > 0; half /= 2)
      if (i + half <= m) return i + half;
    return std::nullopt;
  }
};

// A numbering of the ranks as 0 (the root), 1 .. P-1 for one of the trees.
struct TreeNumbering {
  enum class Order { plain, mirrored, shifted };
  std::int32_t ranks;
  Rank root;
  Order order;

  std::int32_t number(Rank rank) const {
    const std::int32_t v = (rank.value - root.value + ranks) % ranks, m = ranks - 1;
    if (v == 0 || order == Order::plain) return v;
    return order == Order::mirrored ? m + 1 - v : v % m + 1;
  }
  Rank rank(std::int32_t number) const {
    const std::int32_t m = ranks - 1;
    std::int32_t v = number;
    if (v != 0 && order == Order::mirrored) v = m + 1 - number;
    if (v != 0 && order == Order::shifted) v = (number - 2 + m) % m + 1;
    return Rank{(v + root.value) % ranks};
  }
};

TreePlace binary_place(const TreeNumbering& numbering, Rank rank) {
  const InOrderTree tree{numbering.ranks - 1};
  const std::int32_t i = numbering.number(rank);
  const bool mirrored = numbering.order == TreeNumbering::Order::mirrored;
  TreePlace place;
  const auto add = [&](std::int32_t child, bool left) {
    place.children.push_back({numbering.rank(child), InOrderTree::height_of(child), left != mirrored});
  };
  if (i == 0) {
    if (tree.m > 0) place.children.push_back({numbering.rank(tree.top()), InOrderTree::height_of(tree.top()), false});
    return place;
  }
  place.parent = numbering.rank(tree.parent(i));
  if (const auto left = tree.left(i)) add(*left, true);
  if (const auto right = tree.right(i)) add(*right, false);
  return place;
}

struct BinaryRecipe {
  std::int64_t trees;

  Result<Schedule> operator()(const Collective& c, const RankSpace&, const Parameters& p) const {
    const Rank root = c.kind == CollectiveKind::allreduce ? Rank{0} : c.root;
    const auto other = c.ranks % 2 == 1 ? TreeNumbering::Order::mirrored : TreeNumbering::Order::shifted;
    const Segments segments = TRY(choose_segments(c, p, trees));
    TreeOptions o{p.overlap.value_or(false), p.window.value(), segments, {}};
    o.claims.keeps_rank_order =
        root == Rank{0} && (trees == 1 || other == TreeNumbering::Order::mirrored || c.ranks == 2);
    o.claims.height = std::bit_width(static_cast<std::uint32_t>(c.ranks) - 1); // of P - 1 numbers below the root
    return tree_schedule(c,
                         {trees,
                          [=, ranks = c.ranks](std::int64_t t, Rank r) {
                            return binary_place({ranks, root, t == 0 ? TreeNumbering::Order::plain : other}, r);
                          }},
                         o);
  }
};

// Times over trees that each carry m bytes of a segment.
Formula time_of_bcast(const Formula& m) {
  using namespace cost;
  return (2 * (log_P + S) - 3) * (alpha + m * beta);
}
Formula time_of_reduce(const Formula& m) {
  using namespace cost;
  return (2 * log_P - 1) * (alpha + m * (beta + gamma)) + (S - 1) * max(alpha + m * beta, 2 * m * beta);
}

Variant binary_row(std::string summary, Cost cost, std::int64_t trees) {
  return {.summary = std::move(summary),
          .cost = std::move(cost),
          .reference = "Sanders, Speck, Träff, Parallel Computing 35(12), 2009",
          .parameters = tree_parameters("the machine's"),
          .rounding = by_rank_numbers,
          .recipe = BinaryRecipe{trees}};
}

Variant one_tree(const std::function<Formula(const Formula& m)>& time) {
  using namespace cost;
  return binary_row("one binary tree in rank order, pipelined", {time(n / S), powers_of_two && more_than_two}, 1);
}
Variant two_trees(const std::function<Formula(const Formula& m)>& time) {
  using namespace cost;
  return binary_row("two binary trees, each rank inner in at most one, pipelined",
                    {time(n / (2 * S)), powers_of_two && more_than_two && many_segments}, 2);
}
Formula time_of_both(const Formula& m) { return time_of_bcast(m) + time_of_reduce(m); }

} // namespace

Variant bcast_binary::row() { return one_tree(time_of_bcast); }
Variant reduce_binary::row() {
  Variant v = one_tree(time_of_reduce);
  v.reproducible = long_messages;
  return v;
}
Variant allreduce_binary::row() { return one_tree(time_of_both); }

Variant bcast_double_binary::row() { return two_trees(time_of_bcast); }
Variant reduce_double_binary::row() { return two_trees(time_of_reduce); }
Variant allreduce_double_binary::row() { return two_trees(time_of_both); }

} // namespace kumihimo
