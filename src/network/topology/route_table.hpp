// A network by its routes, as simulators of grids describe theirs: links that may be shared by any routes, and for
// every two nodes the links that a message between them crosses. What the links join is not said and not needed, so
// that also a bus is one link, whichever way messages cross it.
//
// Kept are the rows, and which of them holds for each two nodes: at most 2,048 nodes.
#pragma once

#include "base/result.hpp"
#include "topology/switched.hpp"

#include <span>

namespace kumihimo {

class RouteTable final : public Switched {
 public:
  static constexpr std::int32_t most_nodes = 2048;

  // A text of `links` is a class, maybe "fat", maybe a number of such links: "host x16", "backbone", "uplink fat".
  // Links are numbered from 0 in that order. A text of `routes` is two nodes, or two ranges of nodes, and the links
  // from each node of the first to each of the second: "0-1: 3 5 4", "0..15-0..15: 0+a 32 16+b". There a is the
  // sender's place in its range and b the receiver's. Errors: another form; an unknown node or link; two nodes with no
  // route or several.
  static Result<RouteTable> make(std::int32_t nodes, std::span<const std::string> links,
                                 std::span<const std::string> routes);

  std::int32_t nodes() const override { return nodes_; }
  std::int64_t link_bound() const override { return static_cast<std::int64_t>(table_->class_of.size()); }
  bool is_link(LinkId link) const override { return link.value >= 0 && link.value < link_bound(); }
  bool is_shared(LinkId link) const override { return table_->fat[static_cast<std::size_t>(link.value)] == 0; }
  void append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const override;
  std::int32_t distance(NodeId from, NodeId to) const override;
  bool has_shortest_ways() const override { return false; } // they are as they were given
  std::int32_t diameter() const override { return diameter_; }
  std::vector<std::string> link_classes() const override { return table_->classes; }
  std::int32_t link_class(LinkId link) const override { return table_->class_of[static_cast<std::size_t>(link.value)]; }
  std::vector<std::int64_t> ports() const override { return ports_; } // first or last links; none where one is fat
  // Of one half of the nodes: links at the same place in all routes.
  std::vector<Cut> cuts() const override { return cuts_; }
  Link describe(LinkId link) const override; // its ends are not known: both are one switch
  std::int32_t switches() const override { return 1; }
  std::string name() const override; // "routes of 12 nodes over 3 links"

  // Groups of consecutive nodes, equal numbers of them, whose routes are shorter than those to any other.
  std::vector<Level> levels() const override { return levels_; }
  std::shared_ptr<const Switched> part(std::int32_t nodes) const override;
  std::vector<std::string_view> routings() const override { return {"table"}; }
  std::string_view routing() const override { return "table"; }
  std::shared_ptr<const Switched> routed(std::string_view) const override { return part(nodes_); }

 private:
  enum class Moves : std::uint8_t { not_at_all, with_sender, with_receiver };
  struct RouteLink {
    std::int64_t link = 0;
    Moves moves = Moves::not_at_all;
  };
  struct Range {
    std::int32_t first = 0, last = 0;
  };
  struct Row {
    Range from, to;
    std::vector<RouteLink> links;
  };
  struct Table { // of the whole network
    std::int32_t nodes = 0;
    std::vector<std::string> classes;
    std::vector<std::int32_t> class_of; // of each link
    std::vector<char> fat;
    std::vector<Row> rows;
    std::vector<std::int32_t> row_of; // [from * nodes + to]
  };
  RouteTable(std::shared_ptr<const Table> table, std::int32_t nodes);
  static Status read_links(std::span<const std::string> texts, Table& table);
  static Result<Row> read_route(const std::string& text, const Table& table);
  static Result<std::shared_ptr<const Table>> filled(Table table);

  const Row& row(std::int32_t from, std::int32_t to) const {
    const auto at = static_cast<std::size_t>(from) * static_cast<std::size_t>(table_->nodes);
    return table_->rows[static_cast<std::size_t>(table_->row_of[at + static_cast<std::size_t>(to)])];
  }
  LinkId link_at(std::int32_t from, std::int32_t to, std::size_t place, bool from_end) const;
  // Links that were met, for one query after another: of the present one are those with its number, so that none is
  // forgotten one by one.
  struct VisitedLinks {
    std::vector<std::uint32_t> query_of;
    std::uint32_t query = 0;
    bool first_time(LinkId link);
  };
  void find_ports(VisitedLinks& met);
  void find_cuts(VisitedLinks& met);
  void find_levels();
  // How many links of each class are at a place of the routes from one range to another, counted from their ends or
  // starts; none where a fat one is, or a route is shorter.
  std::vector<std::int64_t> crossed(Range from, Range to, std::size_t place, bool from_end, VisitedLinks& met) const;

  std::shared_ptr<const Table> table_;
  std::int32_t nodes_ = 0, diameter_ = 0;
  std::vector<std::int64_t> ports_;
  std::vector<Cut> cuts_;
  std::vector<Level> levels_;
};

} // namespace kumihimo
