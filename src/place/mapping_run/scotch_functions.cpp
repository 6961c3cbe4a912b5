#include "mapping_run/scotch_functions.hpp"

#include "mapping_run/library.hpp"

namespace kumihimo::mapping_run {

std::optional<ScotchFunctions> ScotchFunctions::open() {
  // The first one says what is done on errors; without it the second cannot be loaded.
  const PartitioningLibrary errors =
      PartitioningLibrary::open({"libscotcherr-7.0.so", "libscotcherr.so"}, RTLD_NOW | RTLD_GLOBAL);
  const PartitioningLibrary library = PartitioningLibrary::open({"libscotch-7.0.so", "libscotch.so"});
  ScotchFunctions f{};
  if (!errors || !library || !library.find("SCOTCH_numSizeof", f.num_sizeof) ||
      !library.find("SCOTCH_graphSizeof", f.graph_sizeof) || !library.find("SCOTCH_archSizeof", f.arch_sizeof) ||
      !library.find("SCOTCH_stratSizeof", f.strat_sizeof) || !library.find("SCOTCH_contextInit", f.context_init) ||
      !library.find("SCOTCH_contextExit", f.context_exit) ||
      !library.find("SCOTCH_contextOptionSetNum", f.context_option_set_num) ||
      !library.find("SCOTCH_contextRandomSeed", f.context_random_seed) ||
      !library.find("SCOTCH_contextRandomReset", f.context_random_reset) ||
      !library.find("SCOTCH_contextThreadSpawn", f.context_thread_spawn) ||
      !library.find("SCOTCH_contextBindGraph", f.context_bind_graph) ||
      !library.find("SCOTCH_graphInit", f.graph_init) || !library.find("SCOTCH_graphExit", f.graph_exit) ||
      !library.find("SCOTCH_graphBuild", f.graph_build) || !library.find("SCOTCH_graphMap", f.graph_map) ||
      !library.find("SCOTCH_graphMapFixed", f.graph_map_fixed) || !library.find("SCOTCH_archInit", f.arch_init) ||
      !library.find("SCOTCH_archExit", f.arch_exit) || !library.find("SCOTCH_archCmpltw", f.arch_cmpltw) ||
      !library.find("SCOTCH_archTorusX", f.arch_torus_x) || !library.find("SCOTCH_archMeshX", f.arch_mesh_x) ||
      !library.find("SCOTCH_archTleaf", f.arch_tleaf) || !library.find("SCOTCH_archLoad", f.arch_load) ||
      !library.find("SCOTCH_archSub", f.arch_sub) || !library.find("SCOTCH_stratInit", f.strat_init) ||
      !library.find("SCOTCH_stratExit", f.strat_exit) ||
      !library.find("SCOTCH_stratGraphMapBuild", f.strat_graph_map_build))
    return {};
  if (f.num_sizeof() != sizeof(Number)) return {};
  for (const auto& size : {f.graph_sizeof, f.arch_sizeof, f.strat_sizeof})
    if (static_cast<std::size_t>(size()) > ScotchObject::size) return {};
  return f;
}

} // namespace kumihimo::mapping_run
