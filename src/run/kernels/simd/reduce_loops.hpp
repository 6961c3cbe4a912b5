// The fast reduction loops, in the compilers' vector extension: one source, compiled once per instruction set by a file
// that names its vector width. Everything here has internal linkage: were a function of this header shared between
// the files, the linker could keep the copy with instructions that an older processor lacks.
//
// Order of memory accesses: all operands of an iteration are read before its results are written, so a target that
// equals an operand exactly is safe. The last, partial vector is computed first, from the untouched operands, as the
// full vector that ends with the array, and stored last; where it overlaps the previous one it stores the same bits.
#pragma once

#include "base/lanes.hpp"
#include "kernels/copy.hpp"
#include "kernels/reduce_table.hpp"

#include <type_traits>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace kumihimo::kernels {
namespace {

template <std::size_t bytes>
struct SignedOf;
template <>
struct SignedOf<1> {
  using type = std::int8_t;
};
template <>
struct SignedOf<2> {
  using type = std::int16_t;
};
template <>
struct SignedOf<4> {
  using type = std::int32_t;
};
template <>
struct SignedOf<8> {
  using type = std::int64_t;
};

// `width` bytes of T, as values: V holds T, B the bits as signed integers, U as unsigned ones (whose arithmetic wraps).
template <class T, int width>
struct Vector {
  using Signed = typename SignedOf<sizeof(T)>::type;
  using Unsigned = std::make_unsigned_t<Signed>;
  using V = Lanes<T, width / sizeof(T)>;
  using B = Lanes<Signed, width / sizeof(T)>;
  using U = Lanes<Unsigned, width / sizeof(T)>;
};

template <class T>
constexpr typename SignedOf<sizeof(T)>::type canonical_nan_bits() {
  if constexpr (sizeof(T) == 4)
    return 0x7fc00000;
  else
    return 0x7ff8000000000000;
}

// Of equal values, -0 and +0 are the only ones with different bits: `or` prefers -0, `and` prefers +0.
template <class T, int width, bool want_larger>
[[gnu::always_inline]] inline typename Vector<T, width>::V floating_extreme(typename Vector<T, width>::V left,
                                                                            typename Vector<T, width>::V right) {
  using Types = Vector<T, width>;
  using V = typename Types::V;
  using B = typename Types::B;
  const B left_bits = (B)left, right_bits = (B)right;
  const B is_equal = (B)(left == right);
  const B takes_left = want_larger ? (B)(left > right) : (B)(left < right);
  const B is_nan = (B)(left != left) | (B)(right != right);
  const B of_equal = want_larger ? left_bits & right_bits : left_bits | right_bits;
  const B of_ordered = is_equal ? of_equal : (takes_left ? left_bits : right_bits);
  return (V)(is_nan ? canonical_nan_bits<T>() - B{} : of_ordered);
}

template <class T, Operation op, int width>
[[gnu::always_inline]] inline typename Vector<T, width>::V combine(typename Vector<T, width>::V left,
                                                                   typename Vector<T, width>::V right) {
  using Types = Vector<T, width>;
  using V = typename Types::V;
  using U = typename Types::U;
  if constexpr (std::is_floating_point_v<T>) {
    if constexpr (op == Operation::sum)
      return left + right;
    else if constexpr (op == Operation::prod)
      return left * right;
    else
      return floating_extreme<T, width, op == Operation::max>(left, right);
  } else {
    const U a = (U)left, b = (U)right;
    if constexpr (op == Operation::sum)
      return (V)(a + b);
    else if constexpr (op == Operation::prod)
      return (V)(a * b);
    else if constexpr (op == Operation::min)
      return left < right ? left : right;
    else if constexpr (op == Operation::max)
      return left > right ? left : right;
    else if constexpr (op == Operation::land)
      return (V)((U)(left != 0) & (U)(right != 0) & 1);
    else if constexpr (op == Operation::lor)
      return (V)((U)((a | b) != 0) & 1);
    else if constexpr (op == Operation::lxor)
      return (V)(((U)(left != 0) ^ (U)(right != 0)) & 1);
    else if constexpr (op == Operation::band)
      return (V)(a & b);
    else if constexpr (op == Operation::bor)
      return (V)(a | b);
    else
      return (V)(a ^ b);
  }
}

// Reduces `bytes` bytes: four vectors at a time, then one, then the partial one, in vectors of half the width if the
// whole is less than a vector and of one element at last.
template <class T, Operation op, int width>
[[gnu::always_inline]] inline void reduce_bytes(const char* left, const char* right, char* target, std::int64_t bytes) {
  using V = typename Vector<T, width>::V;
  if (bytes < width) {
    if constexpr (width > 16)
      return reduce_bytes<T, op, width / 2>(left, right, target, bytes);
    else if constexpr (width > static_cast<int>(sizeof(T)))
      return reduce_bytes<T, op, sizeof(T)>(left, right, target, bytes);
    else
      return;
  }
  const auto result = [&](std::int64_t at) { return combine<T, op, width>(load<V>(left + at), load<V>(right + at)); };
  const std::int64_t last_at = bytes - width;
  const V last = result(last_at);
  std::int64_t at = 0;
  for (; at + 4 * width <= last_at; at += 4 * width) {
    const V r0 = result(at), r1 = result(at + width), r2 = result(at + 2 * width), r3 = result(at + 3 * width);
    store(target + at, r0);
    store(target + at + width, r1);
    store(target + at + 2 * width, r2);
    store(target + at + 3 * width, r3);
  }
  for (; at < last_at; at += width) {
    const V r = result(at);
    store(target + at, r);
  }
  store(target + last_at, last);
}

#if defined(__x86_64__)
// A streaming store of an aligned vector.
template <int width, class V>
[[gnu::always_inline]] inline void stream(char* to, V v) {
  if constexpr (width == 16) _mm_stream_si128(reinterpret_cast<__m128i*>(to), (__m128i)v);
#if defined(__AVX2__)
  else if constexpr (width == 32)
    _mm256_stream_si256(reinterpret_cast<__m256i*>(to), (__m256i)v);
#endif
#if defined(__AVX512F__)
  else if constexpr (width == 64)
    _mm512_stream_si512(reinterpret_cast<__m512i*>(to), (__m512i)v);
#endif
}

// As reduce_bytes, for arrays whose target is no operand: whole cache lines of the target are streamed, what is
// before the first and behind the last of them is stored as usual. The blocked alternative, a reduction into the first
// level cache and a streamed copy from there, was slower than plain stores.
template <class T, Operation op, int width>
[[gnu::noinline]] void stream_bytes(const char* left, const char* right, char* target, std::int64_t bytes) {
  using V = typename Vector<T, width>::V;
  const auto head = static_cast<std::int64_t>(-reinterpret_cast<std::uintptr_t>(target) & 63);
  reduce_bytes<T, op, width>(left, right, target, head);
  const auto result = [&](std::int64_t at) { return combine<T, op, width>(load<V>(left + at), load<V>(right + at)); };
  std::int64_t at = head;
  for (; at + 4 * width <= bytes; at += 4 * width) {
    const V r0 = result(at), r1 = result(at + width), r2 = result(at + 2 * width), r3 = result(at + 3 * width);
    stream<width>(target + at, r0);
    stream<width>(target + at + width, r1);
    stream<width>(target + at + 2 * width, r2);
    stream<width>(target + at + 3 * width, r3);
  }
  reduce_bytes<T, op, width>(left + at, right + at, target + at, bytes - at);
  _mm_sfence(); // a flag that tells another process of the result must not overtake it
}

// An operand as the target is in the caches already. A target between the alignment of its elements has no element that
// begins with a cache line.
template <class T>
[[gnu::always_inline]] inline bool can_stream(const char* left, const char* right, const char* target) {
  return target != left && target != right && reinterpret_cast<std::uintptr_t>(target) % sizeof(T) == 0;
}
#endif

template <int width>
struct OfWidth {
  template <class T, Operation op>
  struct Loop {
    static void run(const void* left, const void* right, void* target, std::int64_t count) {
      reduce_bytes<T, op, width>(static_cast<const char*>(left), static_cast<const char*>(right),
                                 static_cast<char*>(target), count * static_cast<std::int64_t>(sizeof(T)));
    }
  };
  static constexpr ReduceTable table = make_reduce_table<Loop>();
#if defined(__x86_64__)
  template <class T, Operation op>
  struct StreamingLoop {
    static void run(const void* left, const void* right, void* target, std::int64_t count) {
      const char *a = static_cast<const char*>(left), *b = static_cast<const char*>(right);
      char* const to = static_cast<char*>(target);
      const std::int64_t bytes = count * static_cast<std::int64_t>(sizeof(T));
      if (bytes >= smallest_streamed_bytes && can_stream<T>(a, b, to))
        return stream_bytes<T, op, width>(a, b, to, bytes);
      reduce_bytes<T, op, width>(a, b, to, bytes);
    }
  };
  static constexpr ReduceTable streaming_table = make_reduce_table<StreamingLoop>();
#endif
};

} // namespace
} // namespace kumihimo::kernels
