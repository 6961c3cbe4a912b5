// What hwloc says of the host; the only file that knows hwloc.

#include "machine/discovery.hpp"

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <memory>
#include <utility>

namespace kumihimo {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

std::int64_t count(hwloc_topology_t topology, hwloc_obj_type_t type) {
  return std::max(hwloc_get_nbobjs_by_type(topology, type), 1);
}

std::string processor_name(hwloc_topology_t topology) {
  hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  return name ? name : "";
}

std::optional<Bytes> last_level_cache(hwloc_topology_t topology) {
  for (const auto type : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE})
    if (hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0); cache && cache->attr->cache.size > 0)
      return Bytes{static_cast<std::int64_t>(cache->attr->cache.size)};
  return std::nullopt;
}

// The largest that serves one core.
std::optional<Bytes> core_cache(hwloc_topology_t topology) {
  for (const auto type : {HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L1CACHE})
    if (hwloc_obj_t cache = hwloc_get_obj_by_type(topology, type, 0);
        cache && cache->attr->cache.size > 0 &&
        hwloc_get_nbobjs_inside_cpuset_by_type(topology, cache->cpuset, HWLOC_OBJ_CORE) <= 1)
      return Bytes{static_cast<std::int64_t>(cache->attr->cache.size)};
  return std::nullopt;
}

// Cores below an object; NUMA nodes stand beside the tree, so that their cores are found by the cpuset.
std::int32_t cores_in(hwloc_topology_t topology, hwloc_obj_t object) {
  return hwloc_get_nbobjs_inside_cpuset_by_type(topology, object->cpuset, HWLOC_OBJ_CORE);
}

// Levels whose objects all have the same number of cores, more than one and not all. If a cache serves only some cores
// of a package, its level may not nest in the others, as a machine's levels must.
void find_levels(hwloc_topology_t topology, Host& host) {
  const std::pair<hwloc_obj_type_t, const char*> types[] = {{HWLOC_OBJ_PACKAGE, "package"},
                                                            {HWLOC_OBJ_NUMANODE, "numa"},
                                                            {HWLOC_OBJ_L3CACHE, "l3"},
                                                            {HWLOC_OBJ_L2CACHE, "l2"}};
  for (const auto& [type, name] : types) {
    std::int32_t cores = 0;
    bool even = true;
    for (int i = 0; i < hwloc_get_nbobjs_by_type(topology, type); ++i) {
      const std::int32_t here = cores_in(topology, hwloc_get_obj_by_type(topology, type, static_cast<unsigned>(i)));
      even &= i == 0 || here == cores;
      cores = here;
    }
    const bool outermost = host.levels.empty();
    if (!even || cores <= 1 || cores >= (outermost ? host.cores : host.levels.back().size)) continue;
    const Level level{name, cores};
    (outermost || nests_in(level, host.levels.back()) ? host.levels : host.not_nested).push_back(level);
  }
}

// What else joins some of the cores and would be lost without a word: groups may stand at several depths, which only a
// walk of them all finds.
void find_unnamed(hwloc_topology_t topology, Host& host) {
  for (int depth = 0; depth < hwloc_topology_get_depth(topology); ++depth) {
    const hwloc_obj_type_t type = hwloc_get_depth_type(topology, depth);
    if (type != HWLOC_OBJ_GROUP && type != HWLOC_OBJ_DIE) continue;
    const Level level{type == HWLOC_OBJ_DIE ? "die" : "group",
                      cores_in(topology, hwloc_get_obj_by_depth(topology, depth, 0))};
    const auto same = [&](const Level& other) { return other.size == level.size; };
    if (level.size > 1 && level.size < host.cores && std::none_of(host.levels.begin(), host.levels.end(), same))
      host.unnamed.push_back(level);
  }
}

Host host_of(hwloc_topology_t raw) {
  Host host;
  host.processor = processor_name(raw);
  host.cores = count(raw, HWLOC_OBJ_CORE);
  host.hardware_threads = count(raw, HWLOC_OBJ_PU);
  host.numa_nodes = count(raw, HWLOC_OBJ_NUMANODE);
  host.memory = Bytes{static_cast<std::int64_t>(hwloc_get_root_obj(raw)->total_memory)};
  host.last_level_cache = last_level_cache(raw);
  host.core_cache = core_cache(raw);
  find_levels(raw, host);
  find_unnamed(raw, host);
  return host;
}

} // namespace

Result<Host> discover_host() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failed("hwloc did not start", {}, "check the hwloc library");
  const TopologyHandle topology(raw);
  if (hwloc_topology_load(raw) != 0)
    return failed("hwloc cannot read this machine's topology", {}, "check that lstopo works here");
  return host_of(raw);
}

Result<Host> read_host(const std::string& xml_path) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failed("hwloc did not start", {}, "check the hwloc library");
  const TopologyHandle topology(raw);
  if (hwloc_topology_set_xml(raw, xml_path.c_str()) != 0 || hwloc_topology_load(raw) != 0)
    return wrong_value("the file must be a topology of hwloc as XML", fmt::format("'{}'", xml_path),
                       "write one with lstopo --of xml");
  return host_of(raw);
}

} // namespace kumihimo
