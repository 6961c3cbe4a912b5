// Placements as the files of launchers:
//
//   openmpi4, openmpi5  rank 3=node007 slot=2      a rankfile; slot=4-7 is slot 1 where each slot has 4 cores; +n6 is
//                                                  the node of index 6 where nodes have no names, which Open MPI 4
//                                                  takes only within a scheduler's allocation (placement/rankfile.hpp)
//   hydra               node007:2                  a line for each run of ranks on a node (see map_warning and
//                                                  placement/hostfile.hpp)
//   mpich5              -hosts n1,n2 -rankmap 1,0  options: the nodes in use, and the place of each rank among them
//   slurm               node007                    a line for each rank
//   cray                0,5,7-9                    ranks in the order of slots
//   vcoord              (1,0,3)                    a line for each rank: the coordinates of its node
//   permutation         17                         a line for each rank: its slot, counted in block order
//   placement           3 6 2                      rank, node and slot (placement/text.hpp)
//
// Readers take comments, which # begins, and empty lines; writers write none, but for the head of `placement`.
#pragma once

#include "placement/map_format.hpp"

#include <string>
#include <string_view>

namespace kumihimo {

// Errors: the format needs names or axes of nodes; it cannot say this placement; fewer cores than slots.
Result<std::string> write_map(MapFormat format, const Placement& placement, const MapFileContext& context);

// The ranks are those of the file, which need not take every slot. Errors, each with file and line: a line of another
// form; an unknown node; a slot beyond those of the node; a rank or a slot a second time; a rank that is missing.
Result<Placement> read_map(MapFormat format, std::string_view text, std::string_view file,
                           const MapFileContext& context);

} // namespace kumihimo
