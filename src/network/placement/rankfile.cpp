#include "placement/rankfile.hpp"

#include "base/text_parsing.hpp"
#include "placement/core_list.hpp"
#include "placement/launcher_lines.hpp"
#include "placement/map_nodes.hpp"
#include "placement/ranks_of_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace kumihimo {
namespace {

std::int32_t largest_core(const CoreList& list) {
  const auto by_core = [](const BoundCore& a, const BoundCore& b) { return a.core < b.core; };
  return std::max_element(list.cores.begin(), list.cores.end(), by_core)->core;
}

struct BoundRank {
  std::int32_t rank = 0, line = 0;
  NodeId node;
  std::string text; // of its cores
  CoreList list;
  std::int32_t slot = 0;
};

class RankfileReader {
 public:
  RankfileReader(std::string_view file, const MapFileContext& context, const MapNodes& nodes)
      : context_(context), nodes_(nodes), ranks_(file, context.slots) {}

  Result<Placement> read(std::string_view text) {
    for (const LauncherLine& line : launcher_lines(text)) {
      ranks_.at_line(line.number);
      BoundRank bound = TRY(bound_rank(line));
      of_node_[bound.node.value].push_back(static_cast<std::int32_t>(bound_.size()));
      bound_.push_back(std::move(bound));
    }
    for (const auto& [node, places] : of_node_)
      if (const Status status = choose_slots(NodeId{node}, places); !status) return status.error();
    for (const BoundRank& bound : bound_) {
      ranks_.at_line(bound.line);
      if (const Status added = ranks_.add(bound.rank, {bound.node, bound.slot}); !added) return added.error();
    }
    return ranks_.placement();
  }

 private:
  Error wrong(const std::string& rule, std::string_view got, std::string advice = {}) const {
    return ranks_.wrong(rule, fmt::format("'{}'", got), std::move(advice));
  }

  Result<BoundRank> bound_rank(const LauncherLine& line) const {
    const auto words = words_of(line.content, " \t\r\f\v=");
    const auto equals = std::count(line.content.begin(), line.content.end(), '=');
    const bool is_bound = words.size() == 5 && equals == 2 && (words[3] == "slot" || words[3] == "slots");
    const bool has_words = !words.empty() && words[0] == "rank" && (is_bound || (words.size() == 3 && equals == 1));
    const auto rank = has_words ? count_in(words[1]) : std::nullopt;
    if (!rank) return wrong("a line of a rankfile is written like 'rank 5=node2 slot=0'", line.content);
    const auto node = nodes_.node(words[2]);
    if (!node)
      return wrong(nodes_.have_names() ? std::string("the node must be one of the job, by its name")
                                       : fmt::format("the node must be +n0 to +n{}", context_.slots.nodes() - 1),
                   words[2], nodes_.have_names() ? "" : "name the nodes in the machine file to write names");
    if (context_.slots.on(*node) == 0) return wrong("the node must have slots of the job", words[2]);
    if (!is_bound) return BoundRank{*rank, line.number, *node, "", {}};
    auto list = core_list_in(words[4]);
    if (!list)
      return wrong("slot= must be cores such as 0, 0-3, 0:2 or 1:* (package 1)", words[4],
                   "see the manual of mpirun, rankfiles");
    const std::int32_t cores = cores_of(*node);
    // Where the cores of a node are not known, a single number is one of its slots.
    const bool is_bounded = context_.cores_per_node > 0 || (list->cores.size() == 1 && !list->names_packages);
    if (is_bounded && largest_core(*list) >= cores)
      return wrong(fmt::format("node {} has {}", words[2],
                               context_.cores_per_node > 0 ? fmt::format("cores 0 to {}", cores - 1)
                                                           : fmt::format("{} slots", cores)),
                   words[4], "give more ranks per node");
    return BoundRank{*rank, line.number, *node, std::string(words[4]), std::move(*list)};
  }

  // 0 in the context: each slot has one.
  std::int32_t cores_of(NodeId node) const {
    return context_.cores_per_node > 0 ? std::max(context_.cores_per_node, context_.slots.on(node))
                                       : context_.slots.on(node);
  }

  Status choose_slots(NodeId node, std::vector<std::int32_t> places) {
    const std::int32_t held = context_.slots.on(node);
    const auto is_bound = [&](std::int32_t place) { return !bound_[place].list.cores.empty(); };
    const std::vector<std::int32_t> all = places;
    std::erase_if(places, [&](std::int32_t place) { return !is_bound(place); });
    std::map<BoundCore, std::int32_t> line_of; // of single cores
    for (const std::int32_t place : places) {
      const BoundRank& bound = bound_[place];
      ranks_.at_line(bound.line);
      if (bound.list.names_packages != bound_[places.front()].list.names_packages)
        return wrong("the lines of a node must all name packages, or all leave them out", bound.text);
      if (bound.list.cores.size() > 1 || bound.list.cores.front().core == BoundCore::all) continue;
      const auto [known, fresh] = line_of.try_emplace(bound.list.cores.front(), bound.line);
      if (!fresh)
        return ranks_.wrong("a core takes one rank", fmt::format("'{}' as in line {}", bound.text, known->second),
                            "give each rank its own core");
    }
    if (static_cast<std::int32_t>(all.size()) > held) {
      const BoundRank& first = bound_[all[static_cast<std::size_t>(held)]];
      ranks_.at_line(first.line);
      return ranks_.wrong(fmt::format("a node with {} slots takes no more ranks", held),
                          fmt::format("rank {}", first.rank), "give more ranks per node");
    }
    if (!take_slots_of_cores(node, places)) take_slots_in_order(places);
    std::set<std::int32_t> taken;
    for (const std::int32_t place : places) taken.insert(bound_[place].slot);
    std::int32_t next = 0;
    for (const std::int32_t place : all) {
      if (is_bound(place)) continue;
      while (taken.contains(next)) ++next;
      bound_[place].slot = next++;
    }
    return Nothing{};
  }

  // False: some rank's cores are not those of one slot, or two ranks have the same.
  bool take_slots_of_cores(NodeId node, const std::vector<std::int32_t>& places) {
    const std::int32_t each = cores_of(node) / context_.slots.on(node);
    std::set<std::int32_t> taken;
    for (const std::int32_t place : places) {
      BoundRank& bound = bound_[place];
      const std::int32_t first = bound.list.cores.front().core / each, last = bound.list.cores.back().core / each;
      if (bound.list.names_packages || first != last || last >= context_.slots.on(node) || !taken.insert(last).second)
        return false;
      bound.slot = last;
    }
    return true;
  }

  void take_slots_in_order(std::vector<std::int32_t> places) {
    std::stable_sort(places.begin(), places.end(), [&](std::int32_t a, std::int32_t b) {
      const auto key = [](const BoundRank& bound) {
        const BoundCore& first = bound.list.cores.front();
        return std::pair(std::pair(first.package, std::max(first.core, 0)), bound.rank);
      };
      return key(bound_[a]) < key(bound_[b]);
    });
    for (std::size_t i = 0; i < places.size(); ++i) bound_[places[i]].slot = static_cast<std::int32_t>(i);
  }

  const MapFileContext& context_;
  const MapNodes& nodes_;
  RanksOfFile ranks_;
  std::vector<BoundRank> bound_;
  std::map<std::int32_t, std::vector<std::int32_t>> of_node_; // places in bound_
};

} // namespace

bool is_rankfile(std::string_view text) {
  const auto lines = launcher_lines(text);
  return !lines.empty() && words_of(lines.front().content).front() == "rank";
}

Result<Placement> read_rankfile(std::string_view text, std::string_view file, const MapFileContext& context) {
  const MapNodes nodes = TRY(MapNodes::of_rankfile(context));
  return RankfileReader(file, context, nodes).read(text);
}

} // namespace kumihimo
