// Fat tree: nodes at the bottom, levels of switches above, several parents for each. References: XGFT of Öhring et al.,
// IPPS 1995; parallel cables of Zahavi, "D-Mod-K Routing Providing Non-Blocking Traffic for Shift Permutations on Real
// Life Fat Trees", 2010. A k-ary n-tree has k children and k parents at every level; a tapered tree has fewer parents.
//
// A message climbs to the lowest switches above both ends and comes down. On the way up it has a choice:
//   d_mod_k  the port's number is a digit of the destination's; all messages to a node come down the same way, and in a
//            full tree no two messages of a shift share a link
//   ecmp     a hash of both ends
#pragma once

#include "base/result.hpp"
#include "topology/switched.hpp"

namespace kumihimo {

class FatTree final : public Switched {
 public:
  // One of the levels of switches, from the lowest: how many nodes (or lower switches) hang on a switch of it, how many
  // switches of it each of those is cabled to, by how many cables each.
  struct Tier {
    std::int32_t children = 1, parents = 1, cables = 1;
    bool operator==(const Tier&) const = default;
  };
  // `nodes` of the places that the tiers have; the last switches then have fewer. Errors: no tier, a count below 1,
  // more nodes than places, more than 2^31-1 links.
  static Result<FatTree> make(std::vector<Tier> tiers, std::int32_t nodes);

  const std::vector<Tier>& tiers() const { return tiers_; }

  std::int32_t nodes() const override { return nodes_; }
  std::int32_t switches() const override { return first_[height()] - nodes_; }
  std::int64_t link_bound() const override { return first_link_.back(); }
  bool is_link(LinkId link) const override { return link.value >= 0 && link.value < link_bound(); }
  void append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const override;
  std::int32_t distance(NodeId from, NodeId to) const override { return 2 * meeting(from.value, to.value); }
  std::int32_t diameter() const override { return 2 * meeting(0, nodes_ - 1); }
  std::vector<std::string> link_classes() const override; // "level1" (of the nodes), "level2" ...
  std::int32_t link_class(LinkId link) const override;
  std::vector<std::int64_t> ports() const override;
  std::vector<Cut> cuts() const override; // half of the switches of each level, with what is below, from the rest
  Link describe(LinkId link) const override;
  std::string name() const override;

  std::vector<Level> levels() const override;
  std::shared_ptr<const Switched> part(std::int32_t nodes) const override;
  std::vector<std::string_view> routings() const override { return {"d_mod_k", "ecmp"}; }
  std::string_view routing() const override { return ecmp_ ? "ecmp" : "d_mod_k"; }
  std::shared_ptr<const Switched> routed(std::string_view routing) const override;

 private:
  FatTree(std::vector<Tier> tiers, std::int32_t nodes);
  std::int32_t height() const { return static_cast<std::int32_t>(tiers_.size()); }
  std::int32_t meeting(std::int32_t from, std::int32_t to) const; // the level of the lowest switches above both
  std::int32_t subtrees(std::int32_t level) const { return (nodes_ - 1) / places_[level] + 1; }

  // A node (level 0) or switch: of which subtree of its level, and which of the subtree's top switches.
  struct Vertex {
    std::int32_t level = 0, subtree = 0, copy = 0;
  };
  std::int32_t number(const Vertex& v) const; // as ends of links are numbered
  LinkId link(const Vertex& child, std::int32_t port, bool down) const;

  std::vector<Tier> tiers_;
  std::int32_t nodes_ = 1;
  bool ecmp_ = false;
  std::vector<std::int32_t> places_;     // below a switch of the level; by level from 0
  std::vector<std::int32_t> copies_;     // top switches of a subtree of the level
  std::vector<std::int32_t> first_;      // vertex of the level above: first_[l - 1] is that of level l
  std::vector<std::int64_t> first_link_; // of those that leave the level upwards; the last is the bound
};

} // namespace kumihimo
