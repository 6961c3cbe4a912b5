#include "mapping_run/scotch_target.hpp"

#include "mapping/partition/domain.hpp"
#include "topology/fat_tree.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

namespace kumihimo::mapping_run {
namespace {

using Number = ScotchFunctions::Number;

// Scotch keeps a distance for every two domains: 4 per node squared, 32 bytes a pair of nodes.
constexpr std::size_t most_in_table = 2048;

// Scotch takes up to 5 axes. Two axes of length 2 have the distances of one ring of 4, in the order of a Gray code.
constexpr std::size_t most_axes = 5;
struct JoinedAxis {
  std::int32_t length = 1, axis = 0, other = -1; // other: joined, both of length 2
  bool wraps = true;
};

std::vector<JoinedAxis> joined_axes(const Shape& shape) {
  std::vector<JoinedAxis> axes;
  for (std::int32_t axis = 0; axis < shape.dimensions(); ++axis) {
    const auto [length, wraps] = shape.axes()[static_cast<std::size_t>(axis)];
    if (length > 1) axes.push_back({length, axis, -1, wraps || length == 2});
  }
  while (axes.size() > most_axes) {
    const auto is_two = [](const JoinedAxis& each) { return each.length == 2; };
    const auto one = std::find_if(axes.begin(), axes.end(), is_two);
    if (one == axes.end()) break;
    const auto two = std::find_if(one + 1, axes.end(), is_two);
    if (two == axes.end()) break;
    one->length = 4;
    one->other = two->axis;
    axes.erase(two);
  }
  return axes;
}

// Scotch's number of a node in the box: its first axis runs fastest.
Number place_of(const mapping::Metric& metric, const std::vector<JoinedAxis>& axes, std::int32_t node) {
  Number place = 0, stride = 1;
  for (const JoinedAxis& each : axes) {
    std::int32_t at = metric.coordinate(node, each.axis);
    if (each.other >= 0) {
      const std::int32_t other = metric.coordinate(node, each.other);
      at = at == 0 ? other : 3 - other;
    }
    place += at * stride;
    stride *= each.length;
  }
  return place;
}

// Groups that nest, outermost first, as sizes; the last is one node.
std::vector<std::int32_t> nested_groups(const std::vector<Level>& levels) {
  std::vector<std::int32_t> sizes;
  for (const Level& level : levels)
    if (level.size > 1 && (sizes.empty() || nests_in(level, {{}, sizes.back()}))) sizes.push_back(level.size);
  sizes.push_back(1);
  return sizes;
}

// Halves the nodes, and the halves, down to single ones. Numbers as Scotch gives to domains: 1 is the whole, 2d and
// 2d + 1 are the halves of d. Halves differ by at most one node, so that numbers stay below 4 times the nodes.
void halve(const mapping::MappingHost& host, std::vector<std::int32_t> slots, Number domain, mapping::Random& random,
           std::vector<Number>& domain_of_slot) {
  if (slots.size() == 1) {
    domain_of_slot[static_cast<std::size_t>(slots.front())] = domain;
    return;
  }
  cut_of(host, slots, random);
  const auto middle = slots.begin() + static_cast<std::ptrdiff_t>((slots.size() + 1) / 2);
  halve(host, {slots.begin(), middle}, 2 * domain, random, domain_of_slot);
  halve(host, {middle, slots.end()}, 2 * domain + 1, random, domain_of_slot);
}

} // namespace

ScotchTarget::ScotchTarget(const ScotchFunctions& scotch, const mapping::MappingHost& host)
    : scotch_(scotch), all_(scotch.arch_init, scotch.arch_exit), some_(scotch.arch_init, scotch.arch_exit) {
  bool are_even = true;
  for (std::int32_t node = 0; node < host.metric.nodes(); ++node)
    if (const std::int32_t slots = host.slots.on(NodeId{node}); slots > 0) {
      nodes_.push_back(node);
      are_even = are_even && slots == host.slots.on(NodeId{nodes_.front()});
    }
  if (!all_.is_usable() || !some_.is_usable() || nodes_.size() < 2) return;
  const bool fits_table = nodes_.size() <= most_in_table;
  const bool is_tree = dynamic_cast<const FatTree*>(host.network.get()) != nullptr;
  is_usable_ = (host.metric.has_axes() && (are_even || !fits_table) && build_box(host)) ||
               (is_tree && (are_even || !fits_table) && build_tree(host)) ||
               (fits_table ? build_table(host) : !host.metric.has_axes() && build_tree(host));
}

bool ScotchTarget::build_box(const mapping::MappingHost& host) {
  const std::vector<JoinedAxis> axes = joined_axes(host.metric.axes());
  if (axes.size() > most_axes) return false;
  std::vector<Number> lengths, places;
  Number all = 1;
  bool wraps = false;
  for (const JoinedAxis& each : axes) {
    lengths.push_back(each.length);
    all *= each.length;
    wraps = wraps || (each.wraps && each.length > 2);
  }
  const auto build = wraps ? scotch_.arch_torus_x : scotch_.arch_mesh_x;
  if (build(all_.get(), static_cast<Number>(lengths.size()), lengths.data()) != 0) return false;
  for (const std::int32_t node : nodes_) places.push_back(place_of(host.metric, axes, node));
  return keep_nodes(std::move(places), all);
}

// Links of a level are as long as its groups are further apart, on average from the first node, than those below.
bool ScotchTarget::build_tree(const mapping::MappingHost& host) {
  const auto* const network = dynamic_cast<const Switched*>(host.network.get());
  if (network == nullptr) return false;
  const std::vector<std::int32_t> groups = nested_groups(network->levels());
  std::vector<std::int64_t> hops(groups.size() + 1, 0), pairs(groups.size(), 0);
  for (const std::int32_t node : nodes_) {
    std::size_t level = 0;
    while (level < groups.size() && node / groups[level] == nodes_.front() / groups[level]) ++level;
    if (level < groups.size()) hops[level] += host.metric(nodes_.front(), node), ++pairs[level];
  }
  std::vector<Number> sizes, links;
  Number leaves = 1;
  for (std::size_t level = groups.size(); level-- > 0;) {
    hops[level] = pairs[level] > 0 ? (hops[level] + pairs[level] / 2) / pairs[level] : hops[level + 1] + 1;
    links.push_back(static_cast<Number>(std::max<std::int64_t>(1, hops[level] - hops[level + 1])));
    sizes.push_back((level > 0 ? groups[level - 1] : (host.metric.nodes() - 1) / groups[0] * groups[0] + groups[0]) /
                    groups[level]);
    leaves *= sizes.back();
  }
  std::reverse(sizes.begin(), sizes.end()); // Scotch's are outermost first
  std::reverse(links.begin(), links.end());
  return scotch_.arch_tleaf(all_.get(), static_cast<Number>(sizes.size()), sizes.data(), links.data()) == 0 &&
         keep_nodes({nodes_.begin(), nodes_.end()}, leaves);
}

// Scotch 7.0.3 numbers the nodes of SCOTCH_archBuild0 otherwise than its manual says if some vertices are switches, and
// SCOTCH_archBuild2 found maps of 1.6 times the hop-bytes of a table's on tori. So the table is written as a file.
bool ScotchTarget::build_table(const mapping::MappingHost& host) {
  std::vector<std::int32_t> first_slots;
  std::vector<Number> domain_of_slot(static_cast<std::size_t>(host.size()), 0);
  for (std::int32_t slot = 0; slot < host.size(); ++slot)
    if (slot == 0 || host.node(slot) != host.node(slot - 1)) first_slots.push_back(slot);
  mapping::Random random(1);
  halve(host, first_slots, 1, random, domain_of_slot);
  std::string text =
      fmt::format("deco\n0\n{}\t{}\n", nodes_.size(), *std::max_element(domain_of_slot.begin(), domain_of_slot.end()));
  const auto out = std::back_inserter(text);
  for (std::size_t at = 0; at < nodes_.size(); ++at)
    fmt::format_to(out, "{}\t{}\t{}\n", at, host.slots.on(NodeId{nodes_[at]}),
                   domain_of_slot[static_cast<std::size_t>(first_slots[at])]);
  host.metric.visit([&](const auto& hops) {
    for (std::size_t at = 1; at < nodes_.size(); ++at)
      for (std::size_t before = 0; before < at; ++before) fmt::format_to(out, "{}\n", hops(nodes_[at], nodes_[before]));
  });
  std::FILE* const file = fmemopen(text.data(), text.size(), "r");
  if (file == nullptr) return false;
  const bool is_built = scotch_.arch_load(all_.get(), file) == 0;
  std::fclose(file);
  return is_built;
}

// Numbers nodes as Scotch does: in the order of their places, which are all or some of the whole.
bool ScotchTarget::keep_nodes(std::vector<Number> place_of_node, Number places) {
  std::vector<std::pair<Number, std::int32_t>> order;
  for (std::size_t at = 0; at < nodes_.size(); ++at) order.emplace_back(place_of_node[at], nodes_[at]);
  std::sort(order.begin(), order.end());
  for (std::size_t at = 0; at < nodes_.size(); ++at) std::tie(place_of_node[at], nodes_[at]) = order[at];
  is_part_ = nodes() != places;
  return !is_part_ || scotch_.arch_sub(some_.get(), all_.get(), nodes(), place_of_node.data()) == 0;
}

} // namespace kumihimo::mapping_run
