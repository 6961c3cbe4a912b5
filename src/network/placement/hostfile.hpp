// Hostfiles of Open MPI ("node1 slots=4 max_slots=8") and of Hydra, MPICH's and Intel MPI's launcher ("node1:4
// binding=numa"): one host a line, with the ranks that it takes. A host without a number takes one.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

struct HostLine {
  std::string host; // without the user before an @
  std::int32_t ranks = 1;
  std::int32_t line = 0;
};

// In the order of the lines, a host on as many of them as it has. What says where processes are bound is checked and
// left out. Errors, each with file and line: a line of another form; an unknown key; a number of ranks that is not
// positive; hosts that a launcher takes from its allocation (+n1) or leaves out (^node1).
Result<std::vector<HostLine>> read_hostfile(std::string_view text, std::string_view file);

} // namespace kumihimo
