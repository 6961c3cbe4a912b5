#include "machine/families.hpp"

#include "topology/dragonfly.hpp"
#include "topology/fat_tree.hpp"
#include "topology/graph.hpp"
#include "topology/route_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

namespace kumihimo {
namespace {

using Made = Result<std::shared_ptr<const Switched>>;
using Kind = FamilyRow::Kind;

// With the routing that the file asks for.
template <class Network>
Made with_routing(const Result<Network>& made, const TopologyDescription& d) {
  if (!made) return made.error();
  std::shared_ptr<const Switched> network = std::make_shared<Network>(*made);
  const std::string routing = d.word("routing");
  if (routing.empty()) return network;
  const auto known = network->routings();
  if (std::find(known.begin(), known.end(), routing) == known.end())
    return wrong_value("this family has no such routing", fmt::format("\"{}\"", routing),
                       fmt::format("write routing = \"{}\"", fmt::join(known, "\" or \"")));
  return network->routed(routing);
}

Made make_fat_tree(const TopologyDescription& d) {
  const auto children = d.counts("arity"), parents = d.counts("parents"), cables = d.counts("cables");
  if (parents.size() != children.size() || (!cables.empty() && cables.size() != children.size()))
    return wrong_value("arity, parents and cables must have as many numbers as the tree has levels",
                       fmt::format("{}, {} and {}", children.size(), parents.size(), cables.size()),
                       "give each a number for every level, from the nodes up");
  std::vector<FatTree::Tier> tiers;
  std::int64_t places = 1;
  for (std::size_t i = 0; i < children.size(); ++i) {
    tiers.push_back({children[i], parents[i], cables.empty() ? 1 : cables[i]});
    places *= children[i]; // at most 2^31-1, as the counts of one key are
  }
  return with_routing(FatTree::make(std::move(tiers), d.count("nodes", places)), d);
}

Made make_dragonfly(const TopologyDescription& d, const Dragonfly::Counts& counts) {
  const double places = double(counts.groups) * counts.routers * counts.nodes_per_router;
  const double most = std::numeric_limits<std::int32_t>::max();
  return with_routing(Dragonfly::make(counts, d.count("nodes", static_cast<std::int64_t>(std::min(places, most)))), d);
}

Made make_plain_dragonfly(const TopologyDescription& d) {
  return make_dragonfly(d, {d.count("groups"), d.count("routers_per_group"), 0, d.count("nodes_per_router"),
                            d.count("node_cables"), d.count("global_cables")});
}

Made make_dragonfly_plus(const TopologyDescription& d) {
  return make_dragonfly(d, {d.count("groups"), d.count("leaves_per_group"), d.count("spines_per_group"),
                            d.count("nodes_per_leaf"), d.count("node_cables"), d.count("global_cables")});
}

Made make_graph(const TopologyDescription& d) {
  const auto edges = TRY(GraphTopology::parse(d.words("edges")));
  return with_routing(GraphTopology::make(d.count("nodes"), d.count("switches", 0), edges), d);
}

Made make_routes(const TopologyDescription& d) {
  const auto links = d.words("links"), routes = d.words("routes");
  return with_routing(RouteTable::make(d.count("nodes"), links, routes), d);
}

const std::vector<FamilyRow>& rows() {
  static const std::vector<FamilyRow> all = {
      {Family::fat_tree,
       {{"arity", Kind::counts, "\"18x24\""},
        {"parents", Kind::counts, "\"1x18\""},
        {"cables", Kind::counts, "\"1x1\"", false},
        {"nodes", Kind::count, "420", false},
        {"routing", Kind::word, "\"d_mod_k\"", false}},
       make_fat_tree},
      {Family::dragonfly,
       {{"groups", Kind::count, "9"},
        {"routers_per_group", Kind::count, "4"},
        {"nodes_per_router", Kind::count, "2"},
        {"node_cables", Kind::count, "1", false},
        {"global_cables", Kind::count, "1", false},
        {"nodes", Kind::count, "72", false},
        {"routing", Kind::word, "\"minimal\"", false}},
       make_plain_dragonfly},
      {Family::dragonfly_plus,
       {{"groups", Kind::count, "9"},
        {"leaves_per_group", Kind::count, "4"},
        {"spines_per_group", Kind::count, "4"},
        {"nodes_per_leaf", Kind::count, "4"},
        {"node_cables", Kind::count, "1", false},
        {"global_cables", Kind::count, "4", false},
        {"nodes", Kind::count, "144", false},
        {"routing", Kind::word, "\"minimal\"", false}},
       make_dragonfly_plus},
      {Family::graph,
       {{"nodes", Kind::count, "4"}, {"switches", Kind::count, "1", false}, {"edges", Kind::words, "[\"0..3-4\"]"}},
       make_graph},
      {Family::routes,
       {{"nodes", Kind::count, "4"},
        {"links", Kind::words, "[\"host x4\", \"backbone\"]"},
        {"routes", Kind::words, "[\"0..3-0..3: 0+a 4 0+b\"]"}},
       make_routes},
  };
  return all;
}

} // namespace

const FamilyRow* find_row(Family family) {
  for (const FamilyRow& row : rows())
    if (row.family == family) return &row;
  return nullptr;
}

} // namespace kumihimo
