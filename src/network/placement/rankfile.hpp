// Rankfiles of Open MPI: "rank 1=node2 slot=0:2-3" says that rank 1 runs on node2, bound to two cores of its first
// package (placement/core_list.hpp).
//
// A rankfile names cores, and a placement has slots. With as many cores a slot as the node has for each, a rank takes
// the slot that has all its cores. Where a list names packages, whose sizes are not known, spans slots, or shares one
// with another rank's, the ranks of that node take its first slots in the order of their first cores. Ranks without
// slot= take the slots that are left.
#pragma once

#include "base/result.hpp"
#include "placement/map_format.hpp"
#include "placement/placement.hpp"

#include <string_view>

namespace kumihimo {

// Whether the first line, without comments, is one of a rankfile.
bool is_rankfile(std::string_view text);

// The ranks are those of the file, which need not take every slot. Nodes are written by name, with or without a user
// and a domain, as +nK, the node K among those that have slots, or by number. Errors, each with file and line: a line
// of another form; an unknown node; a core beyond those of the node; more ranks on a node than it has slots; a rank or
// a single core a second time; a rank that is missing.
Result<Placement> read_rankfile(std::string_view text, std::string_view file, const MapFileContext& context);

} // namespace kumihimo
