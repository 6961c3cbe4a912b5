#include "saved_state/checksum.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kumihimo::saved_state {
namespace {

constexpr std::uint64_t prime_1 = 0x9e3779b185ebca87ULL, prime_2 = 0xc2b2ae3d27d4eb4fULL,
                        prime_3 = 0x165667b19e3779f9ULL, prime_4 = 0x85ebca77c2b2ae63ULL,
                        prime_5 = 0x27d4eb2f165667c5ULL;

template <class Word>
Word word_at(const std::byte* from) {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

std::uint64_t round_of(std::uint64_t lane, std::uint64_t word) {
  return std::rotl(lane + word * prime_2, 31) * prime_1;
}

std::uint64_t merged(std::uint64_t hash, std::uint64_t lane) { return (hash ^ round_of(0, lane)) * prime_1 + prime_4; }

} // namespace

void Checksum::add_stripe(const std::byte* from) {
  for (std::size_t i = 0; i < 4; ++i) lanes_[i] = round_of(lanes_[i], word_at<std::uint64_t>(from + 8 * i));
}

void Checksum::add(std::span<const std::byte> bytes) {
  const std::size_t begun = length_ % stripe;
  length_ += bytes.size();
  if (begun > 0) {
    const std::size_t taken = std::min(stripe - begun, bytes.size());
    std::copy_n(bytes.begin(), taken, rest_.begin() + static_cast<std::ptrdiff_t>(begun));
    bytes = bytes.subspan(taken);
    if (begun + taken < stripe) return;
    add_stripe(rest_.data());
  }
  for (; bytes.size() >= stripe; bytes = bytes.subspan(stripe)) add_stripe(bytes.data());
  std::copy(bytes.begin(), bytes.end(), rest_.begin());
}

std::uint64_t Checksum::value() const {
  std::uint64_t hash = prime_5;
  if (length_ >= stripe) {
    hash = std::rotl(lanes_[0], 1) + std::rotl(lanes_[1], 7) + std::rotl(lanes_[2], 12) + std::rotl(lanes_[3], 18);
    for (const std::uint64_t lane : lanes_) hash = merged(hash, lane);
  }
  hash += length_;
  const std::byte* at = rest_.data();
  const std::byte* const end = at + length_ % stripe;
  for (; end - at >= 8; at += 8)
    hash = std::rotl(hash ^ round_of(0, word_at<std::uint64_t>(at)), 27) * prime_1 + prime_4;
  if (end - at >= 4) {
    hash = std::rotl(hash ^ (word_at<std::uint32_t>(at) * prime_1), 23) * prime_2 + prime_3;
    at += 4;
  }
  for (; at < end; ++at) hash = std::rotl(hash ^ (std::to_integer<std::uint64_t>(*at) * prime_5), 11) * prime_1;
  hash = (hash ^ (hash >> 33)) * prime_2;
  hash = (hash ^ (hash >> 29)) * prime_3;
  return hash ^ (hash >> 32);
}

} // namespace kumihimo::saved_state
