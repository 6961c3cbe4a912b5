#include "one_sided/pattern.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace kumihimo::one_sided {
namespace {

using Word = std::array<std::byte, 8>;

// splitmix64 (G. Steele, D. Lea, C. Flood, Fast Splittable Pseudorandom Number Generators, OOPSLA 2014).
Word word_of(std::uint64_t seed, std::int64_t place) {
  std::uint64_t z = seed + (static_cast<std::uint64_t>(place) + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  Word word;
  std::memcpy(word.data(), &z, sizeof z);
  return word;
}

} // namespace

void fill_pattern(std::byte* at, std::int64_t bytes, std::uint64_t seed) {
  for (std::int64_t begin = 0; begin < bytes; begin += 8) {
    const Word word = word_of(seed, begin / 8);
    std::copy_n(word.begin(), std::min<std::int64_t>(8, bytes - begin), at + begin);
  }
}

std::int64_t first_difference(const std::byte* at, std::int64_t bytes, std::uint64_t seed) {
  for (std::int64_t begin = 0; begin < bytes; begin += 8) {
    const Word word = word_of(seed, begin / 8);
    const std::int64_t length = std::min<std::int64_t>(8, bytes - begin);
    const auto end = word.begin() + length;
    if (const auto [expected, found] = std::mismatch(word.begin(), end, at + begin); expected != end)
      return begin + (expected - word.begin());
  }
  return -1;
}

std::int64_t first_written(const std::byte* at, std::int64_t bytes) {
  const auto* const end = at + bytes;
  const auto* const found = std::find_if(at, end, [](std::byte b) { return b != unwritten; });
  return found == end ? -1 : found - at;
}

std::int32_t operand(std::uint64_t seed, std::int32_t rank, std::int64_t i) {
  return static_cast<std::int32_t>((seed + static_cast<std::uint64_t>(i) * 7 + static_cast<std::uint64_t>(rank)) %
                                   1009);
}

std::int32_t sum_of_operands(std::uint64_t seed, std::int32_t ranks, std::int64_t i) {
  std::int32_t sum = 0;
  for (std::int32_t rank = 0; rank < ranks; ++rank) sum += operand(seed, rank, i);
  return sum;
}

} // namespace kumihimo::one_sided
