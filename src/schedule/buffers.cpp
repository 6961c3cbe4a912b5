#include "schedule/buffers.hpp"

#include "schedule/binding.hpp"

#include <algorithm>

namespace kumihimo {

std::int64_t longest_buffer_bytes(const Collective& c) {
  std::int64_t longest = 0;
  for (std::int32_t r = 0; r < c.ranks; ++r) {
    const Binding binding(c, {}, Rank{r});
    longest = std::max({longest, binding.input_elements(), binding.output_elements()});
  }
  return longest * c.type_bytes;
}

} // namespace kumihimo
