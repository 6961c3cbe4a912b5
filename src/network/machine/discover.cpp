// What hwloc says of the host; the only file that knows hwloc.

#include "machine/discovery.hpp"

#include <hwloc.h>

#include <array>
#include <memory>
#include <utility>

namespace kumihimo {
namespace {

using Kind = NodePart::Kind;

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using TopologyHandle = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, Destroy>;

constexpr std::array<std::pair<hwloc_obj_type_t, Kind>, 9> kinds = {{{HWLOC_OBJ_PACKAGE, Kind::package},
                                                                     {HWLOC_OBJ_DIE, Kind::die},
                                                                     {HWLOC_OBJ_GROUP, Kind::group},
                                                                     {HWLOC_OBJ_NUMANODE, Kind::numa},
                                                                     {HWLOC_OBJ_L3CACHE, Kind::l3},
                                                                     {HWLOC_OBJ_L2CACHE, Kind::l2},
                                                                     {HWLOC_OBJ_L1CACHE, Kind::l1},
                                                                     {HWLOC_OBJ_CORE, Kind::core},
                                                                     {HWLOC_OBJ_PU, Kind::unit}}};

NodePart part_of(hwloc_obj_t object, Kind kind) {
  NodePart part{kind, {}, 0};
  for (int unit = hwloc_bitmap_next(object->cpuset, -1); unit >= 0; unit = hwloc_bitmap_next(object->cpuset, unit))
    part.units.push_back(unit);
  if (hwloc_obj_type_is_cache(object->type) != 0) part.bytes = static_cast<std::int64_t>(object->attr->cache.size);
  return part;
}

// Groups may stand at several depths, and NUMA nodes stand at a depth of their own.
std::vector<NodePart> parts_of(hwloc_topology_t topology) {
  std::vector<NodePart> parts;
  const auto add = [&](int depth) {
    for (const auto& [type, kind] : kinds) {
      if (hwloc_get_depth_type(topology, depth) != type) continue;
      for (unsigned i = 0; i < hwloc_get_nbobjs_by_depth(topology, depth); ++i)
        parts.push_back(part_of(hwloc_get_obj_by_depth(topology, depth, i), kind));
    }
  };
  for (int depth = 0; depth < hwloc_topology_get_depth(topology); ++depth) add(depth);
  add(HWLOC_TYPE_DEPTH_NUMANODE);
  return parts;
}

std::string processor_name(hwloc_topology_t topology) {
  hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
  const char* name = package ? hwloc_obj_get_info_by_name(package, "CPUModel") : nullptr;
  return name ? name : "";
}

} // namespace

Result<Host> discover_host() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failed("hwloc did not start", {}, "check the hwloc library");
  const TopologyHandle topology(raw);
  if (hwloc_topology_load(raw) != 0)
    return failed("hwloc cannot read this machine's topology", {}, "check that lstopo works here");
  const Bytes memory{static_cast<std::int64_t>(hwloc_get_root_obj(raw)->total_memory)};
  return host_of(processor_name(raw), memory, parts_of(raw));
}

} // namespace kumihimo
