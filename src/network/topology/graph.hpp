// Any network, edge by edge: nodes, switches, and the cables between them. Messages take a shortest way; where several
// are as short the destination's number chooses at every step, so that the same two ends always use the same links.
// Nodes relay only where there are no switches.
//
// Kept are the cables and, for each two that relay, their distance: at most 4,096 may.
#pragma once

#include "base/result.hpp"
#include "topology/switched.hpp"

#include <optional>
#include <span>
#include <utility>

namespace kumihimo {

class GraphTopology final : public Switched {
 public:
  // Vertices are numbered nodes first, then switches; a class by its place in `classes`. Two edges between the same
  // vertices are two cables.
  struct Edge {
    std::int32_t a = 0, b = 0, link_class = 0;
  };
  struct Edges {
    std::vector<Edge> edges;
    std::vector<std::string> classes;
  };
  // Each text is "3-17", "0..15-20" for each of a range, then maybe a class and a number of cables: "20-24 uplink x4".
  // Errors: anything else.
  static Result<Edges> parse(std::span<const std::string> texts);

  // Errors: an edge to no vertex or to itself; too many that relay; two nodes that no way joins.
  static Result<GraphTopology> make(std::int32_t nodes, std::int32_t switches, Edges edges);

  std::int32_t nodes() const override { return nodes_; }
  std::int32_t switches() const override { return cables_->vertices - nodes_; } // and nodes that the job lacks
  std::int64_t link_bound() const override { return 2 * static_cast<std::int64_t>(cables_->all.edges.size()); }
  bool is_link(LinkId link) const override { return link.value >= 0 && link.value < link_bound(); }
  void append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const override;
  std::int32_t distance(NodeId from, NodeId to) const override;
  std::int32_t diameter() const override { return diameter_; }
  std::vector<std::string> link_classes() const override { return cables_->all.classes; }
  std::int32_t link_class(LinkId link) const override;
  std::vector<std::int64_t> ports() const override;
  std::vector<Cut> cuts() const override; // half of the nodes from all else
  Link describe(LinkId link) const override;
  std::string name() const override; // "graph of 12 nodes and 3 switches"

  std::vector<Level> levels() const override; // "switch", where nodes hang on them in order and equal numbers
  std::shared_ptr<const Switched> part(std::int32_t nodes) const override;
  std::vector<std::string_view> routings() const override { return {"shortest"}; }
  std::string_view routing() const override { return "shortest"; }
  std::shared_ptr<const Switched> routed(std::string_view) const override { return part(nodes_); }

 private:
  struct Port {
    std::int32_t to = 0; // vertex
    LinkId link;
  };
  struct Cables { // of the whole network
    Edges all;
    std::int32_t nodes = 0, vertices = 0, first_relay = 0;
    std::vector<std::vector<Port>> ports; // of each vertex, in the order of the edges
    std::vector<std::int16_t> hops;       // between relays, -1: none
    std::int32_t relays() const { return vertices - first_relay; }
    std::int32_t distance(std::int32_t a, std::int32_t b) const { // of two that relay
      return hops[static_cast<std::size_t>(a - first_relay) * static_cast<std::size_t>(relays()) +
                  static_cast<std::size_t>(b - first_relay)];
    }
  };
  GraphTopology(std::shared_ptr<const Cables> cables, std::int32_t nodes);
  static void find_distances(Cables& cables);
  // The relays that a message enters and leaves at, by which ports; a node that relays is its own.
  struct Ends {
    std::int32_t first = -1, last = -1;
    const Port *up = nullptr, *down = nullptr;
    std::int32_t hops = -1; // of the whole way; -1: there is none
    std::int64_t key = 0;   // by which further choices are made
  };
  Ends ends(std::int32_t from, std::int32_t to) const;

  std::shared_ptr<const Cables> cables_;
  std::int32_t nodes_ = 0, diameter_ = 0;
  std::optional<std::pair<std::int32_t, std::int32_t>> apart_; // two nodes without a way; of no graph that was made
};

} // namespace kumihimo
