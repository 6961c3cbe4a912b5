// What hwloc says of the host; the only file that knows hwloc.

#include "machine/discovery.hpp"

#include <hwloc.h>

#include <algorithm>
#include <memory>

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

} // namespace

Result<Host> discover_host() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return failed("expected hwloc to start", "an error", "check the hwloc library");
  const TopologyHandle topology(raw);
  if (hwloc_topology_load(raw) != 0)
    return failed("expected hwloc to read this machine's topology", "an error", "check that lstopo works here");
  Host host;
  host.processor = processor_name(raw);
  host.cores = count(raw, HWLOC_OBJ_CORE);
  host.hardware_threads = count(raw, HWLOC_OBJ_PU);
  host.numa_nodes = count(raw, HWLOC_OBJ_NUMANODE);
  host.memory = Bytes{static_cast<std::int64_t>(hwloc_get_root_obj(raw)->total_memory)};
  host.last_level_cache = last_level_cache(raw);
  return host;
}

} // namespace kumihimo
