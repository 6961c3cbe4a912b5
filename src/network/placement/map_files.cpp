#include "placement/map_files.hpp"

#include "placement/map_nodes.hpp"
#include "placement/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

namespace kumihimo {
namespace {

// Whether the ranks of each node have its slots in rank order, from slot 0 on.
Status check_slots_follow_ranks(MapFormat format, const Placement& placement, const MapFileContext& context) {
  if (context.slots_are_alike) return Nothing{};
  std::vector<std::int32_t> taken(static_cast<std::size_t>(context.slots.nodes()));
  for (std::int32_t r = 0; r < placement.ranks(); ++r) {
    const Slot slot = placement.slot(Rank{r});
    const std::int32_t next = taken[slot.node.value]++;
    if (slot.number != next)
      return not_applicable(fmt::format("{} gives the slots of a node to its ranks in rank order, so rank {} must have "
                                        "slot {} of node {}",
                                        name_of(format), r, next, slot.node.value),
                            fmt::format("slot {}", slot.number), "take openmpi5, cray or placement");
  }
  return Nothing{};
}

Result<std::string> rankfile(const Placement& placement, const MapFileContext& context) {
  for (std::int32_t node = 0; context.names.empty() && node < context.slots.nodes(); ++node)
    if (context.slots.on(NodeId{node}) == 0)
      return not_applicable("a rankfile needs nodes with names where some nodes have no slots", {},
                            "name the nodes in the machine file or by --allocation");
  const MapNodes nodes = TRY(MapNodes::of_rankfile(context));
  std::string text;
  for (std::int32_t r = 0; r < placement.ranks(); ++r) {
    const Slot slot = placement.slot(Rank{r});
    const std::int32_t cores = TRY(cores_per_slot(context, slot.node)), first = slot.number * cores;
    text += fmt::format("rank {}={} slot={}", r, nodes.text(slot.node), first);
    text += cores > 1 ? fmt::format("-{}\n", first + cores - 1) : "\n";
  }
  return text;
}

Result<std::string> hosts_of_hydra(const Placement& placement, const MapFileContext& context) {
  const MapNodes nodes = TRY(MapNodes::by_name(MapFormat::hydra, context));
  std::string text;
  for (std::int32_t r = 0, end = 0; r < placement.ranks(); r = end) {
    const NodeId node = placement.node(Rank{r});
    while (end < placement.ranks() && placement.node(Rank{end}) == node) ++end;
    text += fmt::format("{}:{}\n", nodes.text(node), end - r);
  }
  return text;
}

// Options of Hydra in MPICH 5. The kernel takes words of less than 128 KiB.
Result<std::string> rank_map_of_hydra(const Placement& placement, const MapFileContext& context) {
  constexpr std::size_t longest_word = (std::size_t{1} << 17) - 1;
  const MapNodes nodes = TRY(MapNodes::by_name(MapFormat::mpich5, context));
  const std::vector<NodeId> of_rank = placement.node_of_rank();
  std::map<std::int32_t, std::size_t> place; // of each node among those in use
  for (const NodeId node : of_rank) place[node.value] = 0;
  std::string hosts, ranks;
  std::size_t next = 0;
  for (auto& [node, number] : place) {
    number = next++;
    hosts += fmt::format("{}{}", hosts.empty() ? "" : ",", nodes.text(NodeId{node}));
  }
  for (const NodeId node : of_rank) ranks += fmt::format("{}{}", ranks.empty() ? "" : ",", place[node.value]);
  if (std::max(hosts.size(), ranks.size()) > longest_word)
    return not_applicable(fmt::format("mpich5 must have lists of at most {} characters", longest_word),
                          static_cast<std::int64_t>(std::max(hosts.size(), ranks.size())), "take hydra");
  return fmt::format("-hosts {} -rankmap {}\n", hosts, ranks);
}

Result<std::string> hosts_of_slurm(const Placement& placement, const MapFileContext& context) {
  const MapNodes nodes = TRY(MapNodes::by_name(MapFormat::slurm, context));
  std::string text;
  for (const NodeId node : placement.node_of_rank()) text += fmt::format("{}\n", nodes.text(node));
  return text;
}

// Runs of at least three numbers as first-last.
std::string ranges_of(std::span<const std::int32_t> numbers) {
  std::string text;
  for (std::size_t i = 0, end = 0; i < numbers.size(); i = end) {
    end = i + 1;
    while (end < numbers.size() && numbers[end] == numbers[end - 1] + 1) ++end;
    if (end - i < 3) end = i + 1;
    text += fmt::format("{}{}", text.empty() ? "" : ",", numbers[i]);
    if (end > i + 1) text += fmt::format("-{}", numbers[end - 1]);
  }
  return text;
}

// One line a node.
Result<std::string> ranks_of_cray(const Placement& placement, const MapFileContext& context) {
  std::string text;
  std::vector<std::int32_t> of_node;
  for (std::int32_t i = 0; i < placement.ranks(); ++i) {
    const Slot slot = context.slots.at(i);
    const std::optional<Rank> rank = placement.rank_in(slot);
    if (!rank)
      return not_applicable(fmt::format("cray fills slots one after the other, so the {} ranks must have the first {} "
                                        "slots",
                                        placement.ranks(), placement.ranks()),
                            fmt::format("no rank in slot {} of node {}", slot.number, slot.node.value),
                            "take openmpi5 or placement");
    of_node.push_back(rank->value);
    if (i + 1 == placement.ranks() || context.slots.at(i + 1).node != slot.node) {
      text += ranges_of(of_node) + "\n";
      of_node.clear();
    }
  }
  return text;
}

Result<std::string> coordinates_of(const Placement& placement, const MapFileContext& context) {
  const Status axes = check_axes_of_vcoord(context);
  if (!axes) return axes.error();
  std::string text;
  for (const NodeId node : placement.node_of_rank())
    text += fmt::format("({})\n", fmt::join(context.nodes.coordinates(node.value), ","));
  return text;
}

std::string permutation_of(const Placement& placement) {
  std::string text;
  for (std::int32_t r = 0; r < placement.ranks(); ++r) text += fmt::format("{}\n", placement.index(Rank{r}));
  return text;
}

} // namespace

Result<std::string> write_map(MapFormat format, const Placement& placement, const MapFileContext& context) {
  if (placement.slots() != context.slots)
    return wrong_value("the placement must be on the slots of the job",
                       fmt::format("{} slots for {}", placement.slots().size(), context.slots.size()));
  if (format == MapFormat::hydra || format == MapFormat::mpich5 || format == MapFormat::slurm ||
      format == MapFormat::vcoord) {
    const Status follow = check_slots_follow_ranks(format, placement, context);
    if (!follow) return follow.error();
  }
  switch (format) {
  case MapFormat::openmpi4:
  case MapFormat::openmpi5: return rankfile(placement, context);
  case MapFormat::hydra: return hosts_of_hydra(placement, context);
  case MapFormat::mpich5: return rank_map_of_hydra(placement, context);
  case MapFormat::slurm: return hosts_of_slurm(placement, context);
  case MapFormat::cray: return ranks_of_cray(placement, context);
  case MapFormat::vcoord: return coordinates_of(placement, context);
  case MapFormat::permutation: return permutation_of(placement);
  case MapFormat::placement: break;
  }
  return to_text(placement);
}

} // namespace kumihimo
