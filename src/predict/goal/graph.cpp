#include "goal/graph.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::goal {

std::uint32_t GraphBuilder::add(const GraphOperation& operation, std::string_view label) {
  if (!label.empty()) {
    graph_.labels.resize(graph_.operations.size());
    graph_.labels.emplace_back(label);
  }
  graph_.operations.push_back(operation);
  return static_cast<std::uint32_t>(graph_.operations.size() - 1);
}

Graph& GraphBuilder::linked() {
  auto& operations = graph_.operations;
  operations_ = operations.size();
  if (!graph_.labels.empty()) graph_.labels.resize(operations.size());
  for (GraphOperation& each : operations) each.waits_for = each.after_end = each.after_start = 0;
  for (const Edge& edge : edges_) {
    ++operations[edge.operation].waits_for;
    ++(edge.start ? operations[edge.on].after_start : operations[edge.on].after_end);
  }
  std::uint32_t next = 0;
  for (GraphOperation& each : operations) {
    each.first = next;
    next += std::exchange(each.after_end, 0) + std::exchange(each.after_start, 0);
  }
  graph_.dependents.resize(next);
  for (const Edge& edge : edges_)
    if (GraphOperation& on = operations[edge.on]; !edge.start)
      graph_.dependents[on.first + on.after_end++] = edge.operation;
  for (const Edge& edge : edges_)
    if (GraphOperation& on = operations[edge.on]; edge.start)
      graph_.dependents[on.first + on.after_end + on.after_start++] = edge.operation;
  return graph_;
}

void GraphBuilder::finish(Graph& graph) {
  graph = linked();
  graph_.operations.clear(), graph_.labels.clear(), edges_.clear();
}

std::optional<std::uint32_t> in_cycle(const Graph& graph) {
  const auto& operations = graph.operations;
  std::vector<std::uint32_t> left(operations.size()), ready;
  for (std::uint32_t i = 0; i < operations.size(); ++i)
    if ((left[i] = operations[i].waits_for) == 0) ready.push_back(i);
  std::size_t done = 0;
  for (; done < ready.size(); ++done) {
    const GraphOperation& of = operations[ready[done]];
    for (std::uint32_t d = of.first; d < of.first + of.after_end + of.after_start; ++d)
      if (--left[graph.dependents[d]] == 0) ready.push_back(graph.dependents[d]);
  }
  if (done == operations.size()) return std::nullopt;
  // From one that is left, back over those that are left: the walk ends in the cycle. Each of them waits for one.
  std::vector<std::uint32_t> before(operations.size(), 0);
  std::uint32_t at = 0;
  for (std::uint32_t i = 0; i < operations.size(); ++i) {
    if (left[i] == 0) continue;
    at = i;
    const GraphOperation& of = operations[i];
    for (std::uint32_t d = of.first; d < of.first + of.after_end + of.after_start; ++d) before[graph.dependents[d]] = i;
  }
  for (std::size_t steps = 0; steps < operations.size(); ++steps) at = before[at];
  return at;
}

namespace {

std::uint64_t hash_of(const Graph& graph) {
  std::uint64_t h = graph.operations.size();
  for (const GraphOperation& each : graph.operations) {
    h = mixed(h, each.size);
    h = mixed(h, static_cast<std::uint64_t>(static_cast<std::uint32_t>(each.peer)) << 32 | each.tag);
    h = mixed(h, static_cast<std::uint64_t>(each.waits_for) << 32 | static_cast<std::uint64_t>(each.kind) << 16 |
                     static_cast<std::uint64_t>(each.cpu) << 8 | each.nic);
  }
  for (const std::uint32_t each : graph.dependents) h = mixed(h, each);
  return h;
}

} // namespace

std::uint32_t Graphs::add(Graph graph) {
  const std::uint64_t hash = hash_of(graph);
  const auto [first, last] = by_hash_.equal_range(hash);
  for (auto it = first; it != last; ++it)
    if (graphs_[it->second] == graph) return it->second;
  for (const GraphOperation& each : graph.operations) {
    cpus_ = std::max(cpus_, each.cpu + 1), nics_ = std::max(nics_, each.nic + 1);
    const bool matches = each.kind == Kind::send || each.kind == Kind::receive;
    wildcards_ |= matches && (each.tag == any_tag || each.peer == any_peer);
  }
  const auto index = static_cast<std::uint32_t>(graphs_.size());
  graph.operations.shrink_to_fit(), graph.dependents.shrink_to_fit();
  graphs_.push_back(std::move(graph));
  by_hash_.emplace(hash, index);
  return index;
}

std::string Graphs::name_of(std::int32_t rank, std::uint32_t operation) const {
  const Graph& graph = of(rank);
  const GraphOperation& each = graph.operations[operation];
  const std::string label = graph.label(operation);
  const std::string name = label.empty() ? fmt::format("operation {}", operation) : fmt::format("'{}'", label);
  return goal::name_of(rank, each, name, peer(rank, each.peer));
}

std::string name_of(std::int32_t rank, const GraphOperation& each, const std::string& name, std::int32_t peer) {
  if (each.kind == Kind::calc) return fmt::format("rank {}: calc {}", rank, name);
  if (each.kind == Kind::join) return fmt::format("rank {}: {}", rank, name);
  const bool sends = each.kind == Kind::send;
  const std::string tag = each.tag == any_tag ? "any tag" : fmt::format("tag {}", each.tag);
  const std::string from = each.peer == any_peer ? "any rank" : fmt::format("rank {}", peer);
  return fmt::format("rank {}: {} {} ({} bytes {} {}, {})", rank, sends ? "send" : "receive", name, each.size,
                     sends ? "to" : "from", from, tag);
}

} // namespace kumihimo::goal
