#include "fabric/access_memory.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>

#include <cstring>

namespace kumihimo::fabric {
namespace {

constexpr std::uint32_t key_mark = 0x4b4d484b, mapped_mark = 0x4b4d484d; // of memory registered, and allocated here
constexpr std::int64_t most_copied_at_once = 16 << 10; // bytes, about a microsecond, for which others may wait

std::uint64_t sum_of(const AccessKey& key) {
  std::uint64_t sum = mixed(std::uint64_t{key.mark} << 32 | key.rank, key.address);
  sum = mixed(sum, static_cast<std::uint64_t>(key.bytes));
  for (const std::uint64_t each : key.of_engine) sum = mixed(sum, each);
  return sum;
}

} // namespace

AccessOutcome AccessMemory::register_memory(std::byte* data, std::int64_t bytes, AccessKey& key) {
  if (!data || bytes < 1) return bad("memory to register needs an address and at least 1 byte", bytes);
  return enroll(data, bytes, key_mark, key);
}

AccessOutcome AccessMemory::enroll(std::byte* data, std::int64_t bytes, std::uint32_t mark, AccessKey& key) {
  const Result<RegisteredRange*> range = port_.registrations().use(data, bytes);
  if (!range) return outcome_of(range.error());
  key = {};
  key.mark = mark;
  key.rank = static_cast<std::uint32_t>(rank_);
  key.address = port_.registrations().remote_address(**range, data);
  key.bytes = bytes;
  for (std::size_t engine = 0; engine < port_.engines(); ++engine)
    key.of_engine[engine] = fi_mr_key((*range)->at(engine));
  key.sum = sum_of(key);
  OwnRegion& region = own_[key.sum];
  region.data = data, region.range = *range;
  ++region.times;
  return {};
}

AccessOutcome AccessMemory::deregister_memory(const AccessKey& key) {
  const auto found = own_.find(key.sum);
  if (found == own_.end() || sum_of(key) != key.sum || key.mark != key_mark)
    return bad("the key must be of memory that this rank has registered", "another key");
  port_.registrations().release(found->second.range, false);
  if (--found->second.times == 0) own_.erase(found);
  return {};
}

AccessOutcome AccessMemory::allocate(std::int64_t bytes, std::byte*& data, AccessKey& key) {
  if (bytes < 1) return bad("memory to allocate needs at least 1 byte", bytes);
  const Result<std::byte*> memory = node_->allocate(bytes);
  if (!memory) return outcome_of(memory.error());
  AccessOutcome outcome = enroll(*memory, bytes, mapped_mark, key);
  if (!outcome.ok()) return node_->free(*memory), outcome;
  node_->publish(*memory, key.sum);
  data = *memory;
  return {};
}

AccessOutcome AccessMemory::free(const AccessKey& key) {
  const auto found = own_.find(key.sum);
  if (found == own_.end() || sum_of(key) != key.sum || key.mark != mapped_mark)
    return bad("the key must be of memory that this rank has allocated", "another key");
  port_.registrations().release(found->second.range, false);
  node_->free(found->second.data);
  own_.erase(found);
  return {};
}

void AccessMemory::release_all() {
  for (auto& [sum, region] : own_) port_.registrations().release(region.range, false);
  own_.clear();
}

std::optional<AccessOutcome> AccessMemory::fault_of(const AccessPlace& place, std::int64_t bytes) const {
  const AccessKey* const key = place.key;
  if (!key || (key->mark != key_mark && key->mark != mapped_mark) || key->sum != sum_of(*key))
    return bad("the key must be one that kumihimo_rma_register or kumihimo_rma_allocate has made",
               key ? "other bytes" : "a null pointer");
  if (key->rank >= static_cast<std::uint32_t>(ranks_))
    return bad(fmt::format("the key must be of one of the {} ranks", ranks_), fmt::format("rank {}", key->rank));
  if (bytes < 0 || place.offset < 0 || place.offset > key->bytes || bytes > key->bytes - place.offset)
    return bad(fmt::format("an access must lie within the {} bytes that rank {} has registered", key->bytes, key->rank),
               fmt::format("{} bytes at {}", bytes, place.offset));
  if (static_cast<std::int32_t>(key->rank) == rank_ && !own_.contains(key->sum))
    return bad("the memory of the key must be registered", "a key of memory that was deregistered");
  return std::nullopt;
}

std::byte* AccessMemory::here(const AccessPlace& place) {
  const auto found = own_.find(place.key->sum);
  return found == own_.end() ? nullptr : found->second.data + place.offset;
}

std::byte* AccessMemory::mapped_at(const AccessPlace& place) {
  if (place.key->mark != mapped_mark) return nullptr;
  std::byte* const data = node_->find(place.rank(), place.key->sum);
  return data ? data + place.offset : nullptr;
}

void AccessMemory::copy(std::unique_lock<std::mutex>& lock, const AccessPlace& place, std::byte* to,
                        const std::byte* from, std::int64_t bytes) {
  if (bytes == 0) return;
  const bool is_long = bytes > most_copied_at_once, is_mapped = place.rank() != rank_;
  if (is_long && is_mapped) node_->hold(place.rank(), place.key->sum);
  if (is_long) lock.unlock();
  std::memmove(to, from, static_cast<std::size_t>(bytes));
  if (is_long) lock.lock();
  if (is_long && is_mapped) node_->let_go(place.rank(), place.key->sum);
}

} // namespace kumihimo::fabric
