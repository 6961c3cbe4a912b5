// Sets of the queues at one vertex, as bits.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace kumihimo::packet {

template <std::size_t words> // of 64 queues
using QueueMask = std::array<std::uint64_t, words>;

inline constexpr std::uint32_t no_queue = 0xFFFFFFFFU;

template <std::size_t words>
void set(QueueMask<words>& mask, std::uint32_t i) {
  mask[i / 64] |= std::uint64_t{1} << (i % 64);
}
template <std::size_t words>
void clear(QueueMask<words>& mask, std::uint32_t i) {
  mask[i / 64] &= ~(std::uint64_t{1} << (i % 64));
}
template <std::size_t words>
bool has(const QueueMask<words>& mask, std::uint32_t i) {
  return (mask[i / 64] >> (i % 64) & 1) != 0;
}
template <std::size_t words>
bool any(const QueueMask<words>& mask) {
  std::uint64_t all = 0;
  for (const std::uint64_t word : mask) all |= word;
  return all != 0;
}
// std::popcount calls a function of libgcc on x86-64 without flags.
template <std::size_t words>
std::uint64_t count(const QueueMask<words>& mask) {
  std::uint64_t sum = 0;
  for (std::uint64_t word : mask) {
    word -= word >> 1 & 0x5555555555555555U;
    word = (word & 0x3333333333333333U) + (word >> 2 & 0x3333333333333333U);
    word = (word + (word >> 4)) & 0x0F0F0F0F0F0F0F0FU;
    sum += word * 0x0101010101010101U >> 56;
  }
  return sum;
}
template <std::size_t words, class Fn>
void for_each(const QueueMask<words>& mask, Fn&& fn) {
  for (std::size_t word = 0; word < words; ++word)
    for (std::uint64_t left = mask[word]; left != 0; left &= left - 1)
      fn(static_cast<std::uint32_t>(64 * word) + static_cast<std::uint32_t>(std::countr_zero(left)));
}

// The first one from the turn on, round to it; no_queue: the set is empty.
template <std::size_t words>
std::uint32_t next_turn(const QueueMask<words>& mask, std::uint32_t turn) {
  if constexpr (words == 1) {
    if (mask[0] == 0) return no_queue;
    return (turn + static_cast<std::uint32_t>(std::countr_zero(std::rotr(mask[0], static_cast<int>(turn))))) % 64;
  }
  const std::size_t first = turn / 64 % words;
  const std::uint64_t from_turn = ~std::uint64_t{0} << (turn % 64);
  for (std::size_t n = 0; n <= words; ++n) {
    const std::size_t word = (first + n) % words;
    const std::uint64_t left = n == 0 ? mask[word] & from_turn : n == words ? mask[word] & ~from_turn : mask[word];
    if (left != 0) return static_cast<std::uint32_t>(64 * word) + static_cast<std::uint32_t>(std::countr_zero(left));
  }
  return no_queue;
}

} // namespace kumihimo::packet
