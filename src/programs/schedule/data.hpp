// Use of ranks' buffers by a collective: the data that programs for it name.
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

// Origins of a collective's results, by its row alone.

// `count` elements of a result: those from `position` on of the inputs of ranks low .. high-1, combined in this order.
// Where there is no neighbour, of nobody (low = -1): this part of the output stays as it is.
struct Contribution {
  std::int64_t count = 0;
  std::int32_t low = 0, high = 0;
  std::int64_t position = 0;
  bool operator==(const Contribution&) const = default;
  bool is_nobody() const { return low < 0; }
};

// One after the other in the result of `rank`; none where it has none. Of counts that are uniform or in a table.
// O(ranks) for each of them, where the table has rows.
std::vector<Contribution> contributions(const Collective& collective, Rank rank);

} // namespace kumihimo
