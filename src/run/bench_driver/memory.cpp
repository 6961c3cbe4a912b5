#include "bench_driver/memory.hpp"

#include "program/binding.hpp"
#include "schedule/data.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace kumihimo::bench_driver {
namespace {

CallMemory memory_of_binding(const Binding& binding) {
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

CallMemory memory_of(const ProgramSet& set, Rank rank) { return memory_of_binding(Binding(set, rank)); }

CallMemory memory_of(const Collective& c, Rank rank) {
  CallMemory m = memory_of_binding(Binding(data_of(c), {}, rank));
  if (c.kind->from == Contributors::before_itself && rank.value == 0) m.result_bytes = 0;
  // Of scatter in place the root gives its input, of which it keeps its own block where it lies.
  m.input_stays |= c.kind->may_be_in_place() && c.kind->is_in_place_by_receiver();
  return m;
}

Error out_of_memory(std::string wanted, std::string_view advice) {
  return failed("out of memory", std::move(wanted), std::string(advice));
}

Error out_of_memory(const Need& need) {
  return out_of_memory(fmt::format("{} bytes for {}", need.bytes, need.purpose), need.advice);
}

HeapMemory allocate(std::int64_t bytes) {
  auto* memory = static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(std::max<std::int64_t>(bytes, 1))));
  if (!memory) throw std::bad_alloc();
  return {memory, std::free};
}

} // namespace kumihimo::bench_driver
