#include "fabric/message_blocks.hpp"

#include <utility>

namespace kumihimo::fabric {

MessageBlock MessageBlocks::take() {
  constexpr std::size_t blocks_of_slab = 64;
  if (free_.empty()) {
    std::unique_ptr<std::byte[]> slab(new std::byte[stride_ * blocks_of_slab]);
    const Result<RegisteredRange*> range = registers_(slab.get(), static_cast<std::int64_t>(stride_ * blocks_of_slab));
    if (!range) return {};
    for (std::size_t i = 0; i < blocks_of_slab; ++i) free_.push_back({slab.get() + i * stride_, *range});
    slabs_.push_back(std::move(slab));
  }
  const MessageBlock block = free_.back();
  free_.pop_back();
  return block;
}

} // namespace kumihimo::fabric
