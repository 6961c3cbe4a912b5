// What a collective makes of its ranks' buffers: the data that programs for it name.
#pragma once

#include "program/data_layout.hpp"
#include "schedule/collective.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo {

// `declared`: layouts of an algorithm's own, beyond those of the buffers.
std::shared_ptr<const DataLayout> data_of(const Collective& collective, std::vector<BlockLayout> declared = {});

// The longest buffer of any rank. O(ranks).
std::int64_t longest_buffer_bytes(const Collective& collective);

} // namespace kumihimo
