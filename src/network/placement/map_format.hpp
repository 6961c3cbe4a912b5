// The formats of placements as files (placement/map_files.hpp), and what they need to know of a job.
#pragma once

#include "placement/placement.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

enum class MapFormat { openmpi4, openmpi5, hydra, mpich5, slurm, cray, vcoord, permutation, placement };

std::string_view name_of(MapFormat format);
std::vector<MapFormat> map_formats();                   // all of them
Result<MapFormat> map_format_of(std::string_view name); // the error lists the names

struct MapFileContext {
  const Slots& slots;
  std::span<const std::string> names; // of the nodes, or none
  Shape nodes;                        // without axes where the nodes have none
  std::int32_t cores_per_node = 0;    // rankfiles give each slot of a node as many of them; 0: one a slot
  // hydra, mpich5, slurm and vcoord do not state slots: ranks take the slots of a node in rank order. Unless slots of a
  // node are alike, a placement that says otherwise is refused.
  bool slots_are_alike = false;
};

// The command line that starts PROGRAM by the file; empty for formats that no launcher reads.
std::string launch_hint(MapFormat format, std::string_view file, std::int32_t ranks);

// What the user should know of this placement in this format; mostly empty.
std::string map_warning(MapFormat format, const Placement& placement);

} // namespace kumihimo
