#include "shared_memory/channel_layout.hpp"

#include <bit>
#include <cassert>
#include <new>

namespace kumihimo::shared_memory {

ChannelKey channel_key(const transport::MessageKey& key) {
  const auto low = [](auto value) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(value)); };
  return {low(key.instance) << 32 | low(key.segment),
          low(key.lane.value) << 33 | low(key.ordinal) << 1 | (key.signal ? 1u : 0u)};
}

ChannelMemory channel_at(std::byte* start, RingShape shape) {
  assert(reinterpret_cast<std::uintptr_t>(start) % cache_line_bytes == 0);
  assert(std::has_single_bit(static_cast<std::uint64_t>(shape.slots)));
  assert(shape.slot_bytes < static_cast<std::int64_t>(offered));
  ChannelMemory memory;
  memory.acknowledge = reinterpret_cast<AcknowledgeLine*>(start);
  memory.revoke = reinterpret_cast<RevokeLine*>(start + cache_line_bytes);
  memory.headers = reinterpret_cast<SlotHeader*>(start + 2 * cache_line_bytes);
  memory.data = start + cache_line_bytes * (2 + shape.slots);
  memory.shape = shape;
  return memory;
}

void clear(const ChannelMemory& memory) {
  new (memory.acknowledge) AcknowledgeLine{};
  new (memory.revoke) RevokeLine{};
  for (std::int64_t i = 0; i < memory.shape.slots; ++i) new (&memory.headers[i]) SlotHeader{};
}

} // namespace kumihimo::shared_memory
