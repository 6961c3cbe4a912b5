// Operands for checks of kernels: bytes at any offset, with guard bytes around them, and the comparison of results.
#pragma once

#include "kernels/reduce.hpp"

#include <cstring>
#include <random>
#include <vector>

namespace kumihimo::kernels {

// Values at which arithmetic goes wrong: extremes, zeros of both signs, infinities, quiet NaNs with payloads,
// subnormals.
inline std::vector<std::uint64_t> special_bits(DataType type) {
  if (type == DataType::float64)
    return {0x0000000000000000, 0x8000000000000000, 0x7ff0000000000000, 0xfff0000000000000,
            0x7ff8000000000000, 0xfff8000000000001, 0x0000000000000001, 0x7fefffffffffffff,
            0xffefffffffffffff, 0x3ff0000000000000, 0xbff0000000000001};
  if (type == DataType::float32)
    return {0x00000000, 0x80000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc00001,
            0x00000001, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0xbf800001};
  return {0, 1, ~0ull, 0x7full, 0x80ull, 0x7fffull, 0x8000ull, 0x7fffffffull, 0x80000000ull, ~0ull >> 1, ~(~0ull >> 1)};
}

// `count` elements: random bits, and one in four a special value.
inline std::vector<unsigned char> operand(DataType type, std::int64_t count, std::mt19937_64& random) {
  const std::int64_t size = size_of(type);
  const std::vector<std::uint64_t> special = special_bits(type);
  std::vector<unsigned char> bytes(static_cast<std::size_t>(count * size));
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint64_t bits = random() % 4 == 0 ? special[random() % special.size()] : random();
    std::memcpy(bytes.data() + i * size, &bits, static_cast<std::size_t>(size));
  }
  return bytes;
}

template <class T>
T element(const unsigned char* bytes, std::int64_t i) {
  T value;
  std::memcpy(&value, bytes + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return value;
}

inline bool is_nan_at(DataType type, const unsigned char* bytes, std::int64_t i) {
  if (type == DataType::float32) return element<float>(bytes, i) != element<float>(bytes, i);
  if (type == DataType::float64) return element<double>(bytes, i) != element<double>(bytes, i);
  return false;
}

// The first element whose bits differ, or -1. Two NaNs are the same if `any_nan`: the payload of a sum or a product of
// two NaNs is unspecified.
inline std::int64_t first_difference(DataType type, const unsigned char* found, const unsigned char* expected,
                                     std::int64_t count, bool any_nan) {
  const std::int64_t size = size_of(type);
  for (std::int64_t i = 0; i < count; ++i) {
    if (std::memcmp(found + i * size, expected + i * size, static_cast<std::size_t>(size)) == 0) continue;
    if (any_nan && is_nan_at(type, found, i) && is_nan_at(type, expected, i)) continue;
    return i;
  }
  return -1;
}

// A buffer of `count` elements at `offset` bytes from an aligned address, with guards before and behind.
class Guarded {
 public:
  Guarded(DataType type, std::int64_t count, int offset)
      : size_(static_cast<std::size_t>(count * size_of(type))), start_(64 + static_cast<std::size_t>(offset)),
        bytes_(start_ + size_ + 128, 0xa5) {}

  unsigned char* data() { return bytes_.data() + start_; }
  void fill(const std::vector<unsigned char>& values) {
    if (!values.empty()) std::memcpy(data(), values.data(), values.size());
  }
  bool guards_intact() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i)
      if ((i < start_ || i >= start_ + size_) && bytes_[i] != 0xa5) return false;
    return true;
  }

 private:
  std::size_t size_, start_;
  std::vector<unsigned char> bytes_;
};

} // namespace kumihimo::kernels
