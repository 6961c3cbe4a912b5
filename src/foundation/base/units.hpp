// Quantities with their unit in the type: a Bytes is never mistaken for a count of elements, nor Seconds for
// microseconds.
#pragma once

#include <compare>
#include <cstdint>

namespace kumihimo {

// A length of data in bytes.
struct Bytes {
  std::int64_t value = 0;
  constexpr auto operator<=>(const Bytes&) const = default;
  constexpr Bytes operator+(Bytes o) const { return {value + o.value}; }
  constexpr Bytes operator-(Bytes o) const { return {value - o.value}; }
  constexpr Bytes operator*(std::int64_t k) const { return {value * k}; }
};

// A length of time in seconds.
struct Seconds {
  double value = 0;
  constexpr auto operator<=>(const Seconds&) const = default;
  constexpr Seconds operator+(Seconds o) const { return {value + o.value}; }
  constexpr Seconds operator-(Seconds o) const { return {value - o.value}; }
  constexpr Seconds operator*(double k) const { return {value * k}; }
  constexpr Seconds& operator+=(Seconds o) { return value += o.value, *this; }
};

// A rate of data in bytes per second.
struct BytesPerSecond {
  double value = 0;
  constexpr auto operator<=>(const BytesPerSecond&) const = default;
};

// A rate of floating-point operations per second.
struct FlopsPerSecond {
  double value = 0;
  constexpr auto operator<=>(const FlopsPerSecond&) const = default;
};

constexpr Seconds operator/(Bytes b, BytesPerSecond r) { return {static_cast<double>(b.value) / r.value}; }

constexpr Bytes operator""_B(unsigned long long n) { return {static_cast<std::int64_t>(n)}; }
constexpr Bytes operator""_KiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 10}; }
constexpr Bytes operator""_MiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 20}; }
constexpr Bytes operator""_GiB(unsigned long long n) { return {static_cast<std::int64_t>(n) << 30}; }

} // namespace kumihimo
