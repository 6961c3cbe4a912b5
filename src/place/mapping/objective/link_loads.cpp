#include "mapping/objective/link_loads.hpp"

#include <algorithm>
#include <bit>
#include <limits>

namespace kumihimo::mapping {
namespace {

void add_saturated(std::int64_t& sum, std::int64_t term) {
  if (__builtin_add_overflow(sum, term, &sum))
    sum = term > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

} // namespace

std::vector<std::int64_t> link_loads(const Traffic& traffic, const MappingHost& host, const Assignment& assignment) {
  std::vector<std::int64_t> loads(static_cast<std::size_t>(host.network->link_bound()), 0);
  std::vector<LinkId> route;
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank)
    for (const Traffic::Flow& flow : traffic.from(Rank{rank})) {
      if (flow.bytes == 0) continue;
      route.clear();
      host.network->append_route(NodeId{host.node(assignment.slot(rank))},
                                 NodeId{host.node(assignment.slot(flow.to.value))}, route);
      for (const LinkId link : route) loads[static_cast<std::size_t>(link.value)] += flow.bytes;
    }
  return loads;
}

LinkLoads::LinkLoads(const Traffic& traffic, const MappingHost& host, const Assignment& assignment)
    : traffic_(&traffic), host_(&host), links_(host.network->link_bound()),
      leaves_(std::bit_ceil(static_cast<std::size_t>(std::max<std::int64_t>(1, links_)))), tree_(2 * leaves_, 0),
      to_first_(static_cast<std::size_t>(traffic.ranks()) + 1, 0), gain_(static_cast<std::size_t>(links_), 0) {
  const std::vector<std::int64_t> loads = link_loads(traffic, host, assignment);
  std::copy(loads.begin(), loads.end(), tree_.begin() + static_cast<std::ptrdiff_t>(leaves_));
  for (std::size_t at = leaves_ - 1; at >= 1; --at) tree_[at] = std::max(tree_[2 * at], tree_[2 * at + 1]);
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank)
    for (const Traffic::Flow& flow : traffic.from(Rank{rank}))
      if (flow.bytes > 0) ++to_first_[static_cast<std::size_t>(flow.to.value) + 1];
  for (std::size_t rank = 1; rank < to_first_.size(); ++rank) to_first_[rank] += to_first_[rank - 1];
  to_.resize(static_cast<std::size_t>(to_first_.back()));
  std::vector<std::int64_t> next(to_first_.begin(), to_first_.end() - 1);
  for (std::int32_t rank = 0; rank < traffic.ranks(); ++rank)
    for (const Traffic::Flow& flow : traffic.from(Rank{rank}))
      if (flow.bytes > 0)
        to_[static_cast<std::size_t>(next[static_cast<std::size_t>(flow.to.value)]++)] = {rank, flow.bytes};
}

void LinkLoads::add_route(std::int32_t from, std::int32_t to, std::int64_t bytes) {
  if (from == to) return;
  route_.clear();
  host_->network->append_route(NodeId{from}, NodeId{to}, route_);
  for (const LinkId link : route_) {
    std::int64_t& gain = gain_[static_cast<std::size_t>(link.value)];
    if (gain == 0) touched_.push_back(link.value);
    gain += bytes;
  }
}

const LinkLoads::Change& LinkLoads::change(const Assignment& assignment, std::int32_t rank, std::int32_t slot) {
  const std::int32_t other = assignment.rank_in(slot);
  const std::int32_t old_node = host_->node(assignment.slot(rank)), new_node = host_->node(slot);
  change_.clear();
  if (old_node == new_node) return change_;
  const auto after = [&](std::int32_t partner) {
    return partner == rank ? new_node : partner == other ? old_node : host_->node(assignment.slot(partner));
  };
  const auto before = [&](std::int32_t partner) { return host_->node(assignment.slot(partner)); };
  for (const std::int32_t mover : {rank, other}) {
    if (mover < 0) continue;
    for (const Traffic::Flow& flow : traffic_->from(Rank{mover})) {
      if (flow.bytes == 0) continue;
      add_route(before(mover), before(flow.to.value), -flow.bytes);
      add_route(after(mover), after(flow.to.value), flow.bytes);
    }
    for (auto at = to_first_[static_cast<std::size_t>(mover)]; at < to_first_[static_cast<std::size_t>(mover) + 1];
         ++at) {
      const auto [sender, bytes] = to_[static_cast<std::size_t>(at)];
      if (sender == rank || sender == other) continue; // seen from its sender
      add_route(before(sender), before(mover), -bytes);
      add_route(before(sender), after(mover), bytes);
    }
  }
  // A link whose gain returned to 0 on the way stands in the list twice.
  for (const std::int64_t link : touched_) {
    std::int64_t& gain = gain_[static_cast<std::size_t>(link)];
    if (gain != 0) change_.push_back({LinkId{link}, gain});
    gain = 0;
  }
  touched_.clear();
  return change_;
}

std::int64_t LinkLoads::excess_added(const Change& change, std::int64_t cap) const {
  std::int64_t added = 0;
  for (const auto& [link, gain] : change)
    add_saturated(added, std::max<std::int64_t>(0, on(link) + gain - cap) - std::max<std::int64_t>(0, on(link) - cap));
  return added;
}

void LinkLoads::apply(const Change& change) {
  for (const auto& [link, gain] : change) set(leaves_ + static_cast<std::size_t>(link.value), on(link) + gain);
}

void LinkLoads::set(std::size_t leaf, std::int64_t load) {
  tree_[leaf] = load;
  for (std::size_t at = leaf / 2; at >= 1; at /= 2) {
    const std::int64_t most = std::max(tree_[2 * at], tree_[2 * at + 1]);
    if (tree_[at] == most) break;
    tree_[at] = most;
  }
}

} // namespace kumihimo::mapping
