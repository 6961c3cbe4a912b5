#include "bench_driver/call_memory.hpp"

#include "program/binding.hpp"
#include "schedule/data.hpp"

#include <algorithm>

namespace kumihimo::bench_driver {

CallMemory memory_of(const Collective& c, Rank rank) {
  const Binding binding(data_of(c), {}, rank);
  CallMemory m;
  m.input_bytes = binding.input_elements() * c.type_bytes;
  m.output_bytes = binding.output_elements() * c.type_bytes;
  m.aliased = c.aliased(rank);
  if (m.aliased) {
    m.input_at = std::max<std::int64_t>(binding.input_within_output(), 0) * c.type_bytes;
    m.output_at = std::max<std::int64_t>(-binding.input_within_output(), 0) * c.type_bytes;
    m.shared_bytes = std::max(m.input_at + m.input_bytes, m.output_at + m.output_bytes);
  }
  m.result_bytes = c.kind == CollectiveKind::exscan && rank.value == 0 ? 0 : m.output_bytes;
  // Of scatter in place the root gives its input, of which it keeps its own block where it lies.
  m.input_stays = !m.aliased || c.kind == CollectiveKind::scatter;
  return m;
}

} // namespace kumihimo::bench_driver
