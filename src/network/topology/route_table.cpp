#include "topology/route_table.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

namespace kumihimo {
namespace {

constexpr std::int64_t most_links = 1 << 24;

} // namespace

Status RouteTable::read_links(std::span<const std::string> texts, Table& table) {
  for (const std::string& text : texts) {
    std::string_view left = text;
    const std::string name(take_until(left, ' '));
    bool fat = false;
    std::int32_t count = 1;
    if (left.starts_with("fat")) fat = take_until(left, ' ') == "fat";
    if (take(left, "x")) count = take_count(left).value_or(0);
    const bool plain = std::all_of(name.begin(), name.end(),
                                   [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
    if (name.empty() || !plain || !left.empty() || count < 1 ||
        static_cast<std::int64_t>(table.fat.size()) + count > most_links)
      return wrong_value("links are CLASS, then fat if each message has the link to itself, then xNUMBER",
                         fmt::format("\"{}\"", text), "write \"host x16\", or \"uplink fat\"");
    const auto known = std::find(table.classes.begin(), table.classes.end(), name);
    const auto at = static_cast<std::int32_t>(known - table.classes.begin());
    if (known == table.classes.end()) table.classes.push_back(name);
    table.class_of.insert(table.class_of.end(), static_cast<std::size_t>(count), at);
    table.fat.insert(table.fat.end(), static_cast<std::size_t>(count), fat ? 1 : 0);
  }
  return Nothing{};
}

Result<RouteTable::Row> RouteTable::read_route(const std::string& text, const Table& table) {
  const auto wrong = [&] {
    return wrong_value(fmt::format("a route is FROM-TO: LINKS, of nodes 0 to {} and links 0 to {}", table.nodes - 1,
                                   static_cast<std::int64_t>(table.fat.size()) - 1),
                       fmt::format("\"{}\"", text), "write \"0-1: 3 5 4\", or \"0..15-0..15: 0+a 32 16+b\"");
  };
  std::string_view left = text;
  const auto range = [&](Range& r) {
    const auto first = take_count(left);
    if (!first) return false;
    r = {*first, *first};
    if (take(left, "..")) {
      const auto last = take_count(left);
      if (!last || *last < r.first) return false;
      r.last = *last;
    }
    return r.last < table.nodes;
  };
  Row row;
  if (!range(row.from) || !take(left, "-") || !range(row.to) || !take(left, ":")) return wrong();
  while (take(left, " ")) {
    const auto link = take_count(left);
    if (!link) return wrong();
    RouteLink crossed{*link, Moves::not_at_all};
    std::int64_t last = *link;
    if (take(left, "+a"))
      crossed.moves = Moves::with_sender, last += row.from.last - row.from.first;
    else if (take(left, "+b"))
      crossed.moves = Moves::with_receiver, last += row.to.last - row.to.first;
    if (last >= static_cast<std::int64_t>(table.fat.size())) return wrong();
    row.links.push_back(crossed);
  }
  if (!left.empty() || row.links.empty()) return wrong();
  return row;
}

Result<std::shared_ptr<const RouteTable::Table>> RouteTable::filled(Table table) {
  const auto nodes = static_cast<std::size_t>(table.nodes);
  table.row_of.assign(nodes * nodes, -1);
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const Row& row = table.rows[r];
    for (std::int32_t from = row.from.first; from <= row.from.last; ++from)
      for (std::int32_t to = row.to.first; to <= row.to.last; ++to) {
        std::int32_t& known = table.row_of[static_cast<std::size_t>(from) * nodes + static_cast<std::size_t>(to)];
        if (from == to) continue;
        if (known >= 0)
          return wrong_value("each pair of nodes has one route", fmt::format("two from node {} to node {}", from, to),
                             "keep one of them");
        known = static_cast<std::int32_t>(r);
      }
  }
  for (std::size_t at = 0; at < table.row_of.size(); ++at)
    if (table.row_of[at] < 0 && at / nodes != at % nodes)
      return missing(fmt::format("the route from node {} to node {}", at / nodes, at % nodes), "add it");
  return std::make_shared<const Table>(std::move(table));
}

Result<RouteTable> RouteTable::make(std::int32_t nodes, std::span<const std::string> links,
                                    std::span<const std::string> routes) {
  if (nodes < 1 || nodes > most_nodes)
    return wrong_value(fmt::format("a table of routes has 1 to {} nodes", most_nodes), nodes,
                       "describe the network by its family");
  Table table;
  table.nodes = nodes;
  if (Status read = read_links(links, table); !read) return read.error();
  for (const std::string& text : routes) {
    auto row = TRY(read_route(text, table));
    table.rows.push_back(std::move(row));
  }
  auto made = TRY(filled(std::move(table)));
  return RouteTable(std::move(made), nodes);
}

RouteTable::RouteTable(std::shared_ptr<const Table> table, std::int32_t nodes)
    : table_(std::move(table)), nodes_(nodes) {
  for (std::int32_t a = 0; a < nodes_; ++a)
    for (std::int32_t b = 0; b < nodes_; ++b) diameter_ = std::max(diameter_, distance(NodeId{a}, NodeId{b}));
  VisitedLinks met{std::vector<std::uint32_t>(table_->fat.size())};
  find_ports(met);
  find_cuts(met);
  find_levels();
}

LinkId RouteTable::link_at(std::int32_t from, std::int32_t to, std::size_t place, bool from_end) const {
  const Row& r = row(from, to);
  const RouteLink& crossed = r.links[from_end ? r.links.size() - 1 - place : place];
  switch (crossed.moves) {
  case Moves::with_sender: return LinkId{crossed.link + from - r.from.first};
  case Moves::with_receiver: return LinkId{crossed.link + to - r.to.first};
  case Moves::not_at_all: break;
  }
  return LinkId{crossed.link};
}

void RouteTable::append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const {
  for (std::int32_t place = 0; place < distance(from, to); ++place)
    route.push_back(link_at(from.value, to.value, static_cast<std::size_t>(place), false));
}

std::int32_t RouteTable::distance(NodeId from, NodeId to) const {
  return from == to ? 0 : static_cast<std::int32_t>(row(from.value, to.value).links.size());
}

bool RouteTable::VisitedLinks::first_time(LinkId link) {
  return std::exchange(query_of[static_cast<std::size_t>(link.value)], query) != query;
}

std::vector<std::int64_t> RouteTable::crossed(Range from, Range to, std::size_t place, bool from_end,
                                              VisitedLinks& met) const {
  ++met.query;
  std::vector<std::int64_t> by_class(table_->classes.size());
  for (std::int32_t a = from.first; a <= from.last; ++a)
    for (std::int32_t b = to.first; b <= to.last; ++b) {
      if (a == b) continue;
      if (place >= row(a, b).links.size()) return {};
      const LinkId link = link_at(a, b, place, from_end);
      if (!is_shared(link)) return {};
      if (met.first_time(link)) ++by_class[static_cast<std::size_t>(link_class(link))];
    }
  return by_class;
}

namespace {

// Class by class the larger; nothing where one of them is nothing.
std::vector<std::int64_t> larger(std::vector<std::int64_t> a, const std::vector<std::int64_t>& b) {
  if (a.size() != b.size()) return {};
  std::transform(a.begin(), a.end(), b.begin(), a.begin(), [](auto x, auto y) { return std::max(x, y); });
  return a;
}

} // namespace

// What leaves a node crosses one of the first links of its routes, what enters one of the last.
void RouteTable::find_ports(VisitedLinks& met) {
  std::vector<std::int64_t> most(table_->classes.size());
  const Range all{0, nodes_ - 1};
  for (std::int32_t node = 0; node < nodes_ && nodes_ > 1 && !most.empty(); ++node)
    most = larger(larger(std::move(most), crossed({node, node}, all, 0, false, met)),
                  crossed(all, {node, node}, 0, true, met));
  ports_ = std::move(most);
}

// All that goes from one half to the other crosses one of the links at any one place of the routes.
void RouteTable::find_cuts(VisitedLinks& met) {
  const Range low{0, nodes_ / 2 - 1}, high{nodes_ / 2, nodes_ - 1};
  if (nodes_ < 2) return;
  for (std::size_t place = 0; place < static_cast<std::size_t>(diameter_); ++place)
    for (const bool from_end : {false, true}) {
      auto links = larger(crossed(low, high, place, from_end, met), crossed(high, low, place, !from_end, met));
      const auto same = [&](const Cut& cut) { return cut.links == links; };
      if (links.empty() || std::any_of(cuts_.begin(), cuts_.end(), same)) continue;
      cuts_.push_back({static_cast<double>(nodes_ / 2) / nodes_, std::move(links)});
    }
}

void RouteTable::find_levels() {
  std::set<std::int32_t> lengths;
  for (std::int32_t b = 1; b < nodes_; ++b) lengths.insert(distance(NodeId{0}, NodeId{b}));
  if (lengths.empty()) return;
  lengths.erase(--lengths.end());
  const auto close = [&](std::int32_t a, std::int32_t b, std::int32_t length) {
    return distance(NodeId{a}, NodeId{b}) <= length && distance(NodeId{b}, NodeId{a}) <= length;
  };
  for (const std::int32_t length : lengths) { // the innermost level first
    std::int32_t size = 1;
    while (size < nodes_ && close(0, size, length)) ++size;
    bool even = size > 1 && size < nodes_;
    for (std::int32_t a = 0; a < nodes_ && even; ++a)
      for (std::int32_t b = 0; b < a && even; ++b) even = close(a, b, length) == (a / size == b / size);
    if (even && (levels_.empty() || levels_.front().size < size)) levels_.insert(levels_.begin(), Level{"group", size});
  }
}

Topology::Link RouteTable::describe(LinkId link) const {
  const auto link_class = static_cast<std::size_t>(this->link_class(link));
  return {NodeId{nodes_}, NodeId{nodes_}, fmt::format("{} ({})", link.value, table_->classes[link_class])};
}

std::string RouteTable::name() const { return fmt::format("routes of {} nodes over {} links", nodes_, link_bound()); }

std::shared_ptr<const Switched> RouteTable::part(std::int32_t nodes) const {
  return std::make_shared<RouteTable>(RouteTable(table_, nodes));
}

} // namespace kumihimo
