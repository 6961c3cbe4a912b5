#include "file_bench/pattern.hpp"

#include "base/hash.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kumihimo::file_bench {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint64_t step = 0x9e3779b97f4a7c15ULL;
constexpr std::int64_t word_bytes = 8;

} // namespace

BytePattern::BytePattern(std::uint64_t seed, std::string_view name, std::int32_t owner)
    : key_(mixed(mixed(hash_of(name), seed), static_cast<std::uint64_t>(owner))) {}

std::byte BytePattern::at(std::int64_t position) const {
  const std::uint64_t word = key_ + static_cast<std::uint64_t>(position / word_bytes) * step;
  return static_cast<std::byte>(word >> (8 * (position % word_bytes)));
}

void BytePattern::fill(std::span<std::byte> bytes, std::int64_t position) const {
  std::size_t begin = 0;
  for (; begin < bytes.size() && position % word_bytes != 0; ++begin) bytes[begin] = at(position++);
  const std::size_t words = (bytes.size() - begin) / word_bytes;
  const std::uint64_t first = key_ + static_cast<std::uint64_t>(position / word_bytes) * step;
  std::byte* const to = bytes.data() + begin;
  for (std::size_t i = 0; i < words; ++i) {
    const std::uint64_t word = first + i * step;
    std::memcpy(to + i * word_bytes, &word, sizeof word);
  }
  position += static_cast<std::int64_t>(words) * word_bytes;
  for (std::size_t i = begin + words * word_bytes; i < bytes.size(); ++i) bytes[i] = at(position++);
}

std::optional<std::int64_t> BytePattern::first_difference(std::span<const std::byte> bytes,
                                                          std::int64_t position) const {
  const std::int64_t begin = position;
  const auto bytewise = [&](std::size_t from, std::size_t to) -> std::optional<std::int64_t> {
    for (std::size_t i = from; i < to; ++i)
      if (bytes[i] != at(begin + static_cast<std::int64_t>(i))) return begin + static_cast<std::int64_t>(i);
    return std::nullopt;
  };
  const std::size_t head =
      std::min<std::size_t>(bytes.size(), static_cast<std::size_t>((word_bytes - position % word_bytes) % word_bytes));
  if (const auto found = bytewise(0, head)) return found;
  const std::size_t words = (bytes.size() - head) / word_bytes;
  const std::uint64_t first =
      key_ + static_cast<std::uint64_t>((begin + static_cast<std::int64_t>(head)) / word_bytes) * step;
  constexpr std::size_t batch = 512; // words between two looks
  for (std::size_t from = 0; from < words; from += batch) {
    const std::size_t to = std::min(words, from + batch);
    std::uint64_t differs = 0;
    for (std::size_t i = from; i < to; ++i) {
      std::uint64_t word;
      std::memcpy(&word, bytes.data() + head + i * word_bytes, sizeof word);
      differs |= word ^ (first + i * step);
    }
    if (differs != 0) return bytewise(head + from * word_bytes, head + to * word_bytes);
  }
  return bytewise(head + words * word_bytes, bytes.size());
}

} // namespace kumihimo::file_bench
