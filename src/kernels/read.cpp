#include "kernels/read.hpp"

#include <cstring>

namespace kumihimo::kernels {
namespace {

template <int width>
struct Words {
  typedef std::uint64_t Vector __attribute__((vector_size(width)));
};

template <int width>
[[gnu::always_inline]] inline std::uint64_t read_vectors(const char* from, std::int64_t bytes) {
  using V = typename Words<width>::Vector;
  V sums[8] = {};
  std::int64_t at = 0;
  for (; at + 8 * width <= bytes; at += 8 * width)
    for (int i = 0; i < 8; ++i) {
      V v;
      std::memcpy(&v, from + at + i * width, width);
      sums[i] ^= v;
    }
  std::uint64_t all = 0;
  for (int i = 0; i < 8; ++i)
    for (int word = 0; word < width / 8; ++word) all ^= sums[i][word];
  for (; at + 8 <= bytes; at += 8) {
    std::uint64_t word;
    std::memcpy(&word, from + at, sizeof word);
    all ^= word;
  }
  return all;
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] std::uint64_t read_wide(const char* from, std::int64_t bytes) {
  return read_vectors<32>(from, bytes);
}
const bool has_wide = __builtin_cpu_supports("avx2");
#else
std::uint64_t read_wide(const char* from, std::int64_t bytes) { return read_vectors<16>(from, bytes); }
const bool has_wide = false;
#endif

} // namespace

std::uint64_t read_all(const void* memory, std::int64_t bytes) {
  const char* const from = static_cast<const char*>(memory);
  return has_wide ? read_wide(from, bytes) : read_vectors<16>(from, bytes);
}

} // namespace kumihimo::kernels
