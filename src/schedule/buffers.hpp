// The buffers of all ranks of a collective together.
#pragma once

#include "schedule/collective.hpp"

#include <cstdint>

namespace kumihimo {

// The longest that any rank has. O(ranks).
std::int64_t longest_buffer_bytes(const Collective& collective);

} // namespace kumihimo
