// Networks of every family, of random shapes, odd ones among them: what the shared properties are tested on.
#pragma once

#include "topology/dragonfly.hpp"
#include "topology/fat_tree.hpp"
#include "topology/graph.hpp"
#include "topology/router_torus.hpp"
#include "topology/single_node.hpp"
#include "topology/tofu.hpp"
#include "topology/torus.hpp"

#include <functional>
#include <random>

namespace kumihimo {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}
  std::int32_t operator()(std::int32_t from, std::int32_t to) {
    return from + static_cast<std::int32_t>(random_() % static_cast<std::uint64_t>(to - from + 1));
  }

 private:
  std::mt19937_64 random_;
};

struct NetworkFamily {
  std::string name;
  std::function<TopologyPtr(Draw&)> make; // of at most a few hundred nodes
};

inline Shape random_shape(Draw& draw, std::int32_t axes, std::int32_t longest) {
  std::vector<Axis> all;
  for (std::int32_t a = 0; a < axes; ++a) all.push_back({draw(1, longest), draw(0, 1) == 1});
  return Shape(all);
}

inline FatTree random_fat_tree(Draw& draw) {
  std::vector<FatTree::Tier> tiers;
  std::int32_t places = 1;
  for (std::int32_t level = draw(1, 3); level > 0; --level) {
    tiers.push_back({draw(1, 5), draw(1, 4), draw(1, 2)});
    places *= tiers.back().children;
  }
  return *FatTree::make(tiers, draw((places + 1) / 2, places));
}

inline Dragonfly random_dragonfly(Draw& draw, bool plus) {
  const Dragonfly::Counts counts{draw(1, 6), draw(1, 5), plus ? draw(1, 4) : 0, draw(1, 3), draw(1, 2), draw(1, 4)};
  const std::int32_t places = counts.groups * counts.routers * counts.nodes_per_router;
  return *Dragonfly::make(counts, draw((places + 1) / 2, places));
}

// Switches in a tree, nodes on one or two of them, and some more cables. Without switches nodes relay.
inline GraphTopology random_graph(Draw& draw, bool relaying) {
  const std::int32_t nodes = draw(1, 20), switches = relaying ? 0 : draw(1, 6), first = relaying ? 0 : nodes;
  const std::int32_t relays = relaying ? nodes : switches;
  GraphTopology::Edges all{{}, {"slow", "fast"}};
  for (std::int32_t i = 1; i < relays; ++i) all.edges.push_back({first + i, first + draw(0, i - 1), draw(0, 1)});
  for (std::int32_t i = draw(0, 4); i > 0; --i)
    if (const std::int32_t a = draw(0, relays - 1), b = draw(0, relays - 1); a != b)
      all.edges.push_back({first + a, first + b, draw(0, 1)});
  for (std::int32_t node = 0; node < (relaying ? 0 : nodes); ++node)
    for (std::int32_t i = draw(1, 2); i > 0; --i) all.edges.push_back({node, first + draw(0, switches - 1), 0});
  return *GraphTopology::make(nodes, switches, all);
}

inline const std::vector<NetworkFamily>& network_families() {
  static const std::vector<NetworkFamily> all = {
      {"single_node", [](Draw&) { return std::make_shared<SingleNode>(); }},
      {"torus", [](Draw& draw) { return std::make_shared<Torus>(random_shape(draw, draw(1, 4), 5)); }},
      {"tofu",
       [](Draw& draw) {
         const TofuPlace lengths{draw(1, 3), draw(1, 3), draw(1, 3), 2, 3, 2};
         return std::make_shared<Tofu>(*Tofu::make(Tofu::usual(lengths)));
       }},
      {"fat_tree_d_mod_k", [](Draw& draw) { return std::make_shared<FatTree>(random_fat_tree(draw)); }},
      {"fat_tree_ecmp", [](Draw& draw) { return random_fat_tree(draw).routed("ecmp"); }},
      {"dragonfly_minimal", [](Draw& draw) { return std::make_shared<Dragonfly>(random_dragonfly(draw, false)); }},
      {"dragonfly_valiant", [](Draw& draw) { return random_dragonfly(draw, false).routed("valiant"); }},
      {"dragonfly_plus_minimal", [](Draw& draw) { return std::make_shared<Dragonfly>(random_dragonfly(draw, true)); }},
      {"dragonfly_plus_valiant", [](Draw& draw) { return random_dragonfly(draw, true).routed("valiant"); }},
      {"router_torus",
       [](Draw& draw) { return std::make_shared<RouterTorus>(random_shape(draw, draw(1, 3), 4), draw(2, 3)); }},
      {"graph_of_switches", [](Draw& draw) { return std::make_shared<GraphTopology>(random_graph(draw, false)); }},
      {"graph_of_nodes", [](Draw& draw) { return std::make_shared<GraphTopology>(random_graph(draw, true)); }},
  };
  return all;
}

inline std::vector<LinkId> route_of(const Topology& topology, std::int32_t from, std::int32_t to) {
  std::vector<LinkId> links;
  topology.append_route(NodeId{from}, NodeId{to}, links);
  return links;
}

} // namespace kumihimo
