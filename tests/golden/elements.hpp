// Elements of every type as raw bytes, for golden copies: inputs that tell orders of summation apart, and operations
// one element at a time. Shares no code with the kernels.
#pragma once

#include "base/datatype.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <type_traits>
#include <vector>

namespace golden {

using kumihimo::DataType;
using kumihimo::Operation;
using Buffer = std::vector<std::byte>; // elements one after the other

// fn(T{}) with the C++ type of `type`.
template <class F>
decltype(auto) with_type(DataType type, F&& fn) {
  switch (type) {
  case DataType::int8: return fn(std::int8_t{});
  case DataType::uint8: return fn(std::uint8_t{});
  case DataType::int16: return fn(std::int16_t{});
  case DataType::uint16: return fn(std::uint16_t{});
  case DataType::int32: return fn(std::int32_t{});
  case DataType::uint32: return fn(std::uint32_t{});
  case DataType::int64: return fn(std::int64_t{});
  case DataType::uint64: return fn(std::uint64_t{});
  case DataType::float32: return fn(float{});
  default: // float64; pairs (MPI_MINLOC) have tests of their own in kernels/
    break;
  }
  return fn(double{});
}

template <class T>
T at(const Buffer& b, std::int64_t i) {
  T x;
  std::memcpy(&x, b.data() + i * static_cast<std::int64_t>(sizeof(T)), sizeof(T));
  return x;
}
template <class T>
void set(Buffer& b, std::int64_t i, T x) {
  std::memcpy(b.data() + i * static_cast<std::int64_t>(sizeof(T)), &x, sizeof(T));
}

// Floats of both signs over some twelve binary orders of magnitude: any two orders of summation of a few of them differ
// in the last bits. Integers over their whole range, zeros among them (for the logical operations).
template <class T>
T draw(std::mt19937_64& random, Operation op) {
  if constexpr (std::is_floating_point_v<T>) {
    const double mantissa = 1 + static_cast<double>(random() >> 11) * 0x1p-53;
    const int exponent =
        op == Operation::prod ? static_cast<int>(random() % 3) - 1 : static_cast<int>(random() % 24) - 12;
    return static_cast<T>(std::ldexp(random() & 1 ? mantissa : -mantissa, exponent));
  } else {
    return random() % 4 == 0 ? T{0} : static_cast<T>(random());
  }
}

inline Buffer draw_vector(DataType type, Operation op, std::int64_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  return with_type(type, [&]<class T>(T) {
    Buffer b(static_cast<std::size_t>(count) * sizeof(T));
    for (std::int64_t i = 0; i < count; ++i) set<T>(b, i, draw<T>(random, op));
    return b;
  });
}

// Sums and products of integers wrap.
template <class T>
T combine(Operation op, T a, T b) {
  if constexpr (!std::is_floating_point_v<T>) {
    const auto x = static_cast<std::uint64_t>(a), y = static_cast<std::uint64_t>(b);
    switch (op) {
    case Operation::sum: return static_cast<T>(x + y);
    case Operation::prod: return static_cast<T>(x * y);
    case Operation::land: return static_cast<T>(a && b);
    case Operation::lor: return static_cast<T>(a || b);
    case Operation::lxor: return static_cast<T>(!a != !b);
    case Operation::band: return static_cast<T>(x & y);
    case Operation::bor: return static_cast<T>(x | y);
    case Operation::bxor: return static_cast<T>(x ^ y);
    default: break;
    }
  } else {
    if (op == Operation::sum) return a + b;
    if (op == Operation::prod) return a * b;
  }
  return op == Operation::min ? std::min(a, b) : std::max(a, b);
}

} // namespace golden
