#include "kernels/read.hpp"

#include "base/lanes.hpp"

namespace kumihimo::kernels {
namespace {

template <int width>
[[gnu::always_inline]] inline std::uint64_t read_vectors(const char* from, std::int64_t bytes) {
  using V = Lanes<std::uint64_t, width / 8>;
  V sums[8] = {};
  std::int64_t at = 0;
  for (; at + 8 * width <= bytes; at += 8 * width)
#pragma GCC unroll 8
    for (int i = 0; i < 8; ++i) { // unrolled, the sums stay in registers
      V v;
      load_into(v, from + at + i * width);
      sums[i] ^= v;
    }
  V sum = {};
#pragma GCC unroll 8
  for (int i = 0; i < 8; ++i) sum ^= sums[i];
  std::uint64_t all = 0;
  for (int word = 0; word < width / 8; ++word) all ^= sum[word];
  for (; at + 8 <= bytes; at += 8) {
    all ^= load<std::uint64_t>(from + at);
  }
  return all;
}

using Read = std::uint64_t (*)(const char* from, std::int64_t bytes);

#if defined(__x86_64__)
[[gnu::target("avx2")]] std::uint64_t read_by_32(const char* from, std::int64_t bytes) {
  return read_vectors<32>(from, bytes);
}
[[gnu::target("avx512f")]] std::uint64_t read_by_64(const char* from, std::int64_t bytes) {
  return read_vectors<64>(from, bytes);
}
#endif

Read widest() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f")) return read_by_64;
  if (__builtin_cpu_supports("avx2")) return read_by_32;
#endif
  return read_vectors<16>;
}

} // namespace

std::uint64_t read_all(const void* memory, std::int64_t bytes) {
  static const Read read = widest();
  return read(static_cast<const char*>(memory), bytes);
}

} // namespace kumihimo::kernels
