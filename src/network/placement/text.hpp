// Placements as text. One line a rank, in any order; `#` begins a comment:
//
//   # rank node slot
//   0 0 0
//   1 3 0          # a node by its number, from 0, or by its name where nodes have names
//
// A rankfile of Open MPI (placement/rankfile.hpp) is read too.
#pragma once

#include "placement/placement.hpp"

#include <span>
#include <string>
#include <string_view>

namespace kumihimo {

// `names`: of the nodes, or none. The ranks are those of the file, which need not take every slot. Errors, each with
// file and line: a line of another form; an unknown node; a slot beyond those of the node; a rank or a slot a second
// time; a rank that is missing.
Result<Placement> parse_placement(std::string_view text, std::string_view file_name, const Slots& slots,
                                  std::span<const std::string> names = {});
// In rank order, nodes as numbers.
std::string to_text(const Placement& placement);

} // namespace kumihimo
