// The bytes of measured files. Each is a function of its place in the file, of the rank that owns it and of the seed,
// so that a byte that is wrong, or right at another place, is found.
//
// Word w of a file (8 bytes, little-endian) is key + w * 0x9e3779b97f4a7c15 modulo 2^64: a Weyl sequence, so no two
// words of a file are alike, and making it costs an addition for 8 bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace kumihimo::file_bench {

class BytePattern {
 public:
  BytePattern(std::uint64_t seed, std::string_view name, std::int32_t owner);

  // The bytes of the file from `position` on.
  void fill(std::span<std::byte> bytes, std::int64_t position) const;
  std::byte at(std::int64_t position) const; // the definition, one byte at a time
  // The position in the file of the first byte that differs; none: all are right.
  std::optional<std::int64_t> first_difference(std::span<const std::byte> bytes, std::int64_t position) const;

 private:
  std::uint64_t key_;
};

} // namespace kumihimo::file_bench
