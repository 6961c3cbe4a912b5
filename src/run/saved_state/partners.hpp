// Which rank keeps a copy of which other one's state in its memory.
#pragma once

#include <cstdint>
#include <vector>

namespace kumihimo::saved_state {

// The partner of each rank; no two have the same. Ranks in the order of their nodes, shifted by as many as the largest
// node has: all partners are on other nodes, unless one node has more than half of the ranks. One rank is its own.
std::vector<std::int32_t> partners_of(const std::vector<std::int64_t>& node_of_rank);

} // namespace kumihimo::saved_state
