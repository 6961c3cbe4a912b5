#include "topology/router_torus.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace kumihimo {

RouterTorus::RouterTorus(Shape routers, std::int32_t nodes_per_router)
    : routers_(std::move(routers)), each_(nodes_per_router) {}

bool RouterTorus::is_link(LinkId link) const {
  return link.value < first_cable() || routers_.is_link(LinkId{link.value - first_cable()});
}

void RouterTorus::append_route(NodeId from, NodeId to, std::vector<LinkId>& route) const {
  if (from == to) return;
  route.push_back(LinkId{std::int64_t{from.value} * 2});
  const std::size_t first = route.size();
  routers_.append_route(router(from), router(to), route);
  for (std::size_t i = first; i < route.size(); ++i) route[i].value += first_cable();
  route.push_back(LinkId{std::int64_t{to.value} * 2 + 1});
}

std::int32_t RouterTorus::distance(NodeId from, NodeId to) const {
  return from == to ? 0 : routers_.distance(router(from), router(to)) + 2;
}

std::vector<std::string> RouterTorus::link_classes() const {
  auto names = routers_.link_classes();
  names.emplace_back("node");
  return names;
}

std::int32_t RouterTorus::link_class(LinkId link) const {
  if (link.value < first_cable()) return routers_.shape().dimensions();
  return routers_.link_class(LinkId{link.value - first_cable()});
}

std::vector<std::int64_t> RouterTorus::ports() const {
  std::vector<std::int64_t> all(static_cast<std::size_t>(routers_.shape().dimensions()) + 1);
  all.back() = degree();
  return all;
}

std::vector<Topology::Cut> RouterTorus::cuts() const {
  std::vector<Cut> all = routers_.cuts();
  for (Cut& cut : all) cut.links.push_back(0);
  if (nodes() == 1) return all;
  const std::int32_t half = nodes() / 2;
  all.push_back({static_cast<double>(half) / nodes(), std::vector<std::int64_t>(ports().size())});
  all.back().links.back() = half;
  return all;
}

std::int64_t RouterTorus::bisection_links() const {
  std::int64_t fewest = nodes() / 2;
  for (const Cut& cut : cuts())
    fewest = std::min(fewest, std::accumulate(cut.links.begin(), cut.links.end(), std::int64_t{0}));
  return fewest;
}

Topology::Link RouterTorus::describe(LinkId link) const {
  if (link.value >= first_cable()) {
    Link cable = routers_.describe(LinkId{link.value - first_cable()});
    cable.from.value += nodes();
    cable.to.value += nodes();
    return cable;
  }
  const NodeId node{static_cast<std::int32_t>(link.value / 2)}, end{nodes() + router(node).value};
  if (link.value % 2 == 1) return {end, node, fmt::format("router to node {}", node.value)};
  return {node, end, fmt::format("node {} to router", node.value)};
}

std::string RouterTorus::name() const {
  return fmt::format("{} of routers with {} nodes each", routers_.name(), each_);
}

} // namespace kumihimo
