// Cores, caches and levels of a node from the list of its parts.

#include "machine/discovery.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

namespace kumihimo {
namespace {

using Kind = NodePart::Kind;

constexpr std::array<std::pair<std::string_view, Kind>, 9> names = {{{"package", Kind::package},
                                                                     {"die", Kind::die},
                                                                     {"group", Kind::group},
                                                                     {"numa", Kind::numa},
                                                                     {"l3", Kind::l3},
                                                                     {"l2", Kind::l2},
                                                                     {"l1", Kind::l1},
                                                                     {"core", Kind::core},
                                                                     {"unit", Kind::unit}}};

std::string name_of(Kind kind) {
  const auto* const row = std::find_if(names.begin(), names.end(), [&](const auto& r) { return r.second == kind; });
  return std::string(row->first);
}

class HostNode {
 public:
  explicit HostNode(std::span<const NodePart> parts) : parts_(parts) {
    for (const Kind kind : {Kind::core, Kind::unit})
      for (const NodePart& part : parts_) {
        if (part.kind != kind) continue;
        bool new_core = false;
        for (const std::int32_t unit : part.units) new_core |= core_of_.try_emplace(unit, cores_).second;
        cores_ += new_core ? 1 : 0;
      }
  }

  std::int32_t cores() const { return std::max(cores_, 1); }
  std::int64_t units() const { return std::max<std::int64_t>(static_cast<std::int64_t>(core_of_.size()), 1); }
  std::int64_t count(Kind kind) const {
    return std::count_if(parts_.begin(), parts_.end(), [&](const NodePart& part) { return part.kind == kind; });
  }

  // The cores of each part of a kind. Parts with the same cores count once: two kinds of memory beside the same cores
  // are two NUMA nodes. Memory without cores is no level.
  std::set<std::set<std::int32_t>> cores_by_part(Kind kind) const {
    std::set<std::set<std::int32_t>> all;
    for (const NodePart& part : parts_)
      if (part.kind == kind && !part.units.empty()) all.insert(cores_in(part));
    return all;
  }

  std::optional<Bytes> last_level_cache() const {
    return first_cache([](const NodePart&) { return true; });
  }
  std::optional<Bytes> core_cache() const {
    return first_cache([&](const NodePart& cache) { return cores_in(cache).size() <= 1; });
  }

 private:
  std::set<std::int32_t> cores_in(const NodePart& part) const {
    std::set<std::int32_t> cores;
    for (const std::int32_t unit : part.units)
      if (const auto core = core_of_.find(unit); core != core_of_.end()) cores.insert(core->second);
    return cores;
  }

  // The first of each kind stands for all.
  template <class Condition>
  std::optional<Bytes> first_cache(Condition&& condition) const {
    for (const Kind kind : {Kind::l3, Kind::l2, Kind::l1}) {
      const auto cache =
          std::find_if(parts_.begin(), parts_.end(), [&](const NodePart& part) { return part.kind == kind; });
      if (cache != parts_.end() && cache->bytes > 0 && condition(*cache)) return Bytes{cache->bytes};
    }
    return std::nullopt;
  }

  std::span<const NodePart> parts_;
  std::map<std::int32_t, std::int32_t> core_of_; // by unit
  std::int32_t cores_ = 0;
};

std::set<std::int32_t> sizes_of(const std::set<std::set<std::int32_t>>& parts) {
  std::set<std::int32_t> sizes;
  for (const auto& cores : parts) sizes.insert(static_cast<std::int32_t>(cores.size()));
  return sizes;
}

// Levels whose parts all have the same number of cores, more than one and not all. If a cache serves only some cores
// of a package, its level may not nest in the others, as a machine's levels must.
void find_levels(const HostNode& node, Host& host) {
  for (const Kind kind : {Kind::package, Kind::numa, Kind::l3, Kind::l2}) {
    const auto parts = node.cores_by_part(kind);
    const auto sizes = sizes_of(parts);
    if (sizes.size() > 1)
      for (const std::int32_t size : sizes) host.uneven.push_back({name_of(kind), size});
    if (sizes.size() != 1) continue;
    const bool outermost = host.levels.empty();
    const Level level{name_of(kind), *sizes.begin()};
    if (level.size <= 1 || level.size >= (outermost ? node.cores() : host.levels.back().size)) continue;
    const bool serves_all = static_cast<std::int64_t>(parts.size()) * level.size == node.cores();
    const bool nests = serves_all && (outermost || nests_in(level, host.levels.back()));
    (nests ? host.levels : host.not_nested).push_back(level);
  }
}

// What else joins some of the cores and would be lost without a word.
void find_unnamed(const HostNode& node, Host& host) {
  for (const Kind kind : {Kind::die, Kind::group})
    for (const std::int32_t size : sizes_of(node.cores_by_part(kind))) {
      const auto same = [&](const Level& level) { return level.size == size; };
      if (size > 1 && size < node.cores() && std::none_of(host.levels.begin(), host.levels.end(), same))
        host.unnamed.push_back({name_of(kind), size});
    }
}

} // namespace

std::optional<Kind> node_part_of(std::string_view name) {
  const auto* const row = std::find_if(names.begin(), names.end(), [&](const auto& r) { return r.first == name; });
  return row == names.end() ? std::nullopt : std::optional(row->second);
}

Host host_of(std::string processor, Bytes memory, std::span<const NodePart> parts) {
  const HostNode node(parts);
  Host host;
  host.processor = std::move(processor);
  host.cores = node.cores();
  host.hardware_threads = node.units();
  host.numa_nodes = std::max<std::int64_t>(node.count(Kind::numa), 1);
  host.memory = memory;
  host.last_level_cache = node.last_level_cache();
  host.core_cache = node.core_cache();
  find_levels(node, host);
  find_unnamed(node, host);
  return host;
}

} // namespace kumihimo
