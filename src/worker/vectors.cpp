#include "worker/vectors.hpp"

#include "worker/values.hpp"

#include <algorithm>
#include <cstring>

namespace kumihimo::worker {
namespace {

constexpr std::int64_t most_bytes = std::int64_t{96} << 20; // of all sets of one rank, unless two need more

std::int64_t sets_for(std::int64_t bytes) {
  return std::clamp<std::int64_t>(most_bytes / std::max<std::int64_t>(1, 2 * bytes), 2, 8);
}

constexpr std::int64_t contents_that_take_turns = 2;

HeapMemory zeros(std::int64_t bytes) {
  HeapMemory memory = allocate(bytes);
  std::memset(memory.get(), 0, static_cast<std::size_t>(bytes)); // pages are there before anything is timed
  return memory;
}

} // namespace

Result<Vectors> Vectors::make(const Collective& c, Rank rank) {
  const std::int64_t each_set = c.aliased(rank) ? 1 : 2, bytes = c.bytes().value;
  const Need need{bytes * (contents_that_take_turns + each_set * sets_for(bytes)), "the vectors of a rank"};
  return with_memory(need, [&] {
    std::vector<Vector> values;
    for (std::uint64_t seed = 1; seed <= contents_that_take_turns; ++seed)
      values.push_back(values_of(c.type, c.reduces() ? c.operation : Operation::sum, c.counts.each, rank.value, seed));
    return Vectors(c, rank, std::move(values));
  });
}

Vectors::Vectors(const Collective& c, Rank rank, std::vector<Vector> values) : values_(std::move(values)) {
  const std::int64_t bytes = c.bytes().value;
  const bool aliased = c.aliased(rank);
  writes_input_ = c.kind != CollectiveKind::bcast || rank == c.root;
  for (std::int64_t i = 0; i < sets_for(bytes); ++i)
    sets_.push_back({aliased ? HeapMemory(nullptr, std::free) : zeros(bytes), zeros(bytes)});
}

Vectors::Set Vectors::prepare(std::int64_t n) {
  const Owned& owned = sets_[static_cast<std::size_t>(n) % sets_.size()];
  const Vector& contents = values_[static_cast<std::size_t>(n) % values_.size()];
  std::byte* input = owned.input ? owned.input.get() : owned.output.get();
  if (writes_input_ && !contents.empty()) std::memcpy(input, contents.data(), contents.size());
  return {input, owned.output.get()};
}

std::uint64_t hash_of(const void* data, std::int64_t bytes) {
  const auto* at = static_cast<const std::byte*>(data);
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (std::int64_t left = bytes; left > 0; left -= 8, at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at, static_cast<std::size_t>(std::min<std::int64_t>(left, 8)));
    hash = (hash ^ word) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }
  return hash;
}

} // namespace kumihimo::worker
