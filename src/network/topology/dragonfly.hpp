// Dragonfly: groups of routers, every group cabled to every other (Kim, Dally, Scott, Abts, "Technology-Driven,
// Highly-Scalable Dragonfly Topology", ISCA 2008). In a plain one the routers of a group are cabled to each other and
// to other groups. In a dragonfly+ (Shpiner et al., HiPINEB 2017) leaves hold the nodes, spines the cables to other
// groups, and every leaf is cabled to every spine of its group.
//
//   minimal  to the group of the destination by the cable that makes the way shortest, or if several do, by the
//            destination's number: local, global, local
//   valiant  by a third group, which a hash of both ends chooses, so that no pattern crowds the cables between two
//            groups; messages in a group stay there
//
// The cables between groups are dealt to the routers (or spines) of a group in turn.
#pragma once

#include "base/result.hpp"
#include "topology/switched.hpp"

namespace kumihimo {

class Dragonfly final : public Switched {
 public:
  struct Counts {
    std::int32_t groups = 1, routers = 1; // routers that hold nodes, of a group; the leaves of a dragonfly+
    std::int32_t spines = 0;              // of a group; a plain dragonfly has none
    std::int32_t nodes_per_router = 1;
    std::int32_t node_cables = 1;   // of a node
    std::int32_t global_cables = 1; // between two groups
    bool operator==(const Counts&) const = default;
  };
  // `nodes` of the places; the last routers then have fewer. Errors: a count below 1, more nodes than places, more than
  // 2^31-1 links.
  static Result<Dragonfly> make(const Counts& counts, std::int32_t nodes);

  const Counts& counts() const { return counts_; }
  std::int32_t group(NodeId node) const { return node.value / counts_.nodes_per_router / counts_.routers; }
  std::int32_t group_of_switch(std::int32_t index) const { return index / per_group(); }

  std::int32_t nodes() const override { return nodes_; }
  std::int32_t switches() const override { return counts_.groups * per_group(); }
  std::int64_t link_bound() const override { return global(counts_.groups, 0, 0); }
  bool is_link(LinkId link) const override { return link.value >= 0 && link.value < link_bound(); }
  void append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const override;
  std::int32_t distance(NodeId from, NodeId to) const override;
  std::int32_t diameter() const override; // of the family; a small one may have no two nodes that far apart
  std::vector<std::string> link_classes() const override { return {"node", "local", "global"}; }
  std::int32_t link_class(LinkId link) const override;
  std::vector<std::int64_t> ports() const override { return {nodes_ > 1 ? counts_.node_cables : 0, 0, 0}; }
  std::vector<Cut> cuts() const override; // half of the nodes, routers and groups from the others
  Link describe(LinkId link) const override;
  std::string name() const override;

  std::vector<Level> levels() const override;
  std::shared_ptr<const Switched> part(std::int32_t nodes) const override;
  std::vector<std::string_view> routings() const override { return {"minimal", "valiant"}; }
  std::string_view routing() const override { return valiant_ ? "valiant" : "minimal"; }
  std::shared_ptr<const Switched> routed(std::string_view routing) const override;

 private:
  Dragonfly(const Counts& counts, std::int32_t nodes) : counts_(counts), nodes_(nodes) {}
  bool plus() const { return counts_.spines > 0; }
  std::int32_t per_group() const { return counts_.routers + counts_.spines; }
  std::int32_t router(NodeId node) const; // its switch
  std::int32_t used_routers() const { return (nodes_ - 1) / counts_.nodes_per_router + 1; }
  std::int32_t used_groups() const { return (used_routers() - 1) / counts_.routers + 1; }

  // Switches are numbered group by group, routers before spines. Each step of a route: its link, and where it ends.
  struct Way {
    std::vector<LinkId>& route;
    std::int32_t at; // switch
    std::uint64_t key;
  };
  std::int32_t gateway(std::int32_t group, std::int32_t offset, std::int32_t cable) const;
  std::int32_t local_hops(std::int32_t from, std::int32_t to) const;
  void go_local(Way& way, std::int32_t to) const;
  void go_to_group(Way& way, std::int32_t group, std::int32_t then) const; // then: the switch gone to there, or -1

  LinkId node_link(NodeId node, std::int32_t cable, bool down) const;
  LinkId local(std::int32_t from, std::int32_t to) const;
  std::int64_t locals_of_group() const;
  std::int64_t first_local() const { return std::int64_t{2} * nodes_ * counts_.node_cables; }
  std::int64_t first_global() const { return first_local() + counts_.groups * locals_of_group(); }
  std::int64_t global(std::int32_t group, std::int32_t offset, std::int32_t cable) const;

  Counts counts_;
  std::int32_t nodes_ = 1;
  bool valiant_ = false;
};

} // namespace kumihimo
