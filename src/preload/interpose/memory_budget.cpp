#include "interpose/memory_budget.hpp"

#include "shared_memory/node_segment.hpp"

#include <algorithm>

namespace kumihimo::interpose {
namespace {

// For the second transport: half of the first one's.
constexpr std::int64_t second_bytes_per_rank = shared_memory::ample_bytes_per_rank / 2;
// For each pair of ranks, and for all further transports together.
constexpr std::int64_t middle_ring_bytes = 72 << 10, small_ring_bytes = 20 << 10;
constexpr std::int64_t room_for_middle_bytes = 420 << 10, room_bytes = 832 << 10;

// The memory of a node's rings that a process touches: the rings to and from its partners. Most algorithms have two
// partners, or the logarithm of the ranks; for these two of the longest rings are a good estimate. A read also maps
// neighbouring pages, in steps of 64 KiB (Linux, fault_around_bytes).
std::int64_t touched_bytes(std::int32_t node_ranks, std::int64_t limit_bytes) {
  constexpr std::int64_t brought_bytes = 64 << 10;
  const std::int64_t ring = shared_memory::ring_shape_for(node_ranks, limit_bytes).channel_bytes(),
                     others = node_ranks - 1;
  const std::int64_t partners = std::min<std::int64_t>(others, 2);
  return partners * (ring + std::min(others * ring, ring + brought_bytes));
}

} // namespace

MemoryBudget& MemoryBudget::of_process() {
  static MemoryBudget budget;
  return budget;
}

std::optional<MemoryBudget::Share> MemoryBudget::next(std::int32_t node_ranks, bool must) const {
  if (live_ >= (must ? most_reproducible : most)) return std::nullopt;
  if (live_ == 0 || node_ranks < 2) return Share{};
  if (live_ == 1) return Share{node_ranks * second_bytes_per_rank, 0};
  const std::int64_t pairs = static_cast<std::int64_t>(node_ranks) * (node_ranks - 1);
  const auto part_of = [&](std::int64_t ring_bytes) {
    return Share{pairs * ring_bytes, touched_bytes(node_ranks, pairs * ring_bytes)};
  };
  const std::int64_t taken = taken_bytes_;
  const Share middle = part_of(middle_ring_bytes), small = part_of(small_ring_bytes);
  if (taken + middle.taken_bytes <= room_for_middle_bytes) return middle;
  if (must || taken + small.taken_bytes <= room_bytes) return small;
  return std::nullopt;
}

std::optional<MemoryBudget::Share> MemoryBudget::take(std::int32_t node_ranks, bool must) {
  const std::lock_guard lock(mutex_);
  const std::optional<Share> share = next(node_ranks, must);
  if (share) ++live_, taken_bytes_ += share->taken_bytes;
  return share;
}

void MemoryBudget::give_back(const Share& share) {
  const std::lock_guard lock(mutex_);
  --live_;
  taken_bytes_ -= share.taken_bytes;
}

bool MemoryBudget::leaves_room(std::int32_t node_ranks) {
  const std::lock_guard lock(mutex_);
  const auto live = live_;
  const auto taken = taken_bytes_;
  int shares = 0;
  for (; shares < 3; ++shares)
    if (const std::optional<Share> share = next(node_ranks, false))
      ++live_, taken_bytes_ += share->taken_bytes;
    else
      break;
  live_ = live, taken_bytes_ = taken;
  return shares == 3;
}

bool MemoryBudget::has_better(const Share& share, std::int32_t node_ranks, bool must) {
  const std::lock_guard lock(mutex_);
  --live_, taken_bytes_ -= share.taken_bytes;
  const std::optional<Share> other = next(node_ranks, must);
  ++live_, taken_bytes_ += share.taken_bytes;
  const auto bytes = [](const Share& p) { return static_cast<std::uint64_t>(p.shared_memory_limit_bytes); }; // -1: most
  return other && bytes(*other) > bytes(share);
}

} // namespace kumihimo::interpose
