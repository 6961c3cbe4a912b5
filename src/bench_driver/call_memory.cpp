#include "bench_driver/call_memory.hpp"

#include "program/binding.hpp"
#include "schedule/data.hpp"

#include <algorithm>

namespace kumihimo::bench_driver {

namespace {

CallMemory memory_of(const Binding& binding) {
  const std::int64_t bytes = binding.data().type_bytes;
  CallMemory m;
  m.input_bytes = binding.input_elements() * bytes;
  m.output_bytes = binding.output_elements() * bytes;
  m.aliased = binding.one_memory();
  if (m.aliased) {
    m.input_at = std::max<std::int64_t>(binding.input_within_output(), 0) * bytes;
    m.output_at = std::max<std::int64_t>(-binding.input_within_output(), 0) * bytes;
    m.shared_bytes = std::max(m.input_at + m.input_bytes, m.output_at + m.output_bytes);
  }
  m.result_bytes = m.output_bytes;
  m.input_stays = !m.aliased;
  return m;
}

} // namespace

CallMemory memory_of(const ProgramSet& set, Rank rank) { return memory_of(Binding(set, rank)); }

CallMemory memory_of(const Collective& c, Rank rank) {
  CallMemory m = memory_of(Binding(data_of(c), {}, rank));
  if (c.kind->from == Contributors::before_itself && rank.value == 0) m.result_bytes = 0;
  // Of scatter in place the root gives its input, of which it keeps its own block where it lies.
  m.input_stays |= c.kind->may_be_in_place() && c.kind->is_in_place_by_receiver();
  return m;
}

} // namespace kumihimo::bench_driver
