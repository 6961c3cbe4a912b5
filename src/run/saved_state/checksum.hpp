// XXH64, the 64-bit checksum of Y. Collet (github.com/Cyan4973/xxHash, doc/xxhash_spec.md), seed 0: it finds what a
// disk or a killed program did to a file. It is no protection against forgery.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace kumihimo::saved_state {

// Of bytes that come in pieces; how they are cut does not matter.
class Checksum {
 public:
  void add(std::span<const std::byte> bytes);
  std::uint64_t value() const; // of all bytes so far

 private:
  static constexpr std::size_t stripe = 32;
  void add_stripe(const std::byte* from);

  std::array<std::uint64_t, 4> lanes_ = {0x60ea27eeadc0b5d6ULL, 0xc2b2ae3d27d4eb4fULL, 0, 0x61c8864e7a143579ULL};
  std::array<std::byte, stripe> rest_{}; // less than a stripe, not yet in the lanes
  std::uint64_t length_ = 0;
};

} // namespace kumihimo::saved_state
