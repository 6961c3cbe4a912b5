// Sums of floats and doubles without rounding: a fixed-point number wide enough for every finite value of the type, and
// rounded once, at the end. Additions of integers associate, so the bits of an accumulator, and of what it is rounded
// to, depend on the addends alone: on no order, no grouping, no number of ranks.
//
// What the sum is:
//  - finite addends: their exact sum, rounded once to nearest, ties to even, subnormals included; an infinity only
//    where the exact sum itself rounds to one, never because a part of it did;
//  - an infinity among them: that infinity; both infinities, or any NaN: the canonical quiet NaN, positive, without
//    payload (0x7ff8000000000000, 0x7fc00000), whatever else is added;
//  - zero: -0 where every addend is -0, otherwise +0 (also of no addends), as IEEE 754 has it for two.
//
// Form: a two's complement integer in units of the least subnormal, least significant limb first, and one word of what
// is no number. Each value has one form, so equal sums are equal bytes. Both are plain memory: copied, sent, compared.
//
// Sources: Kulisch, Miranker, Computer arithmetic in theory and practice, 1981; Neal, Fast exact summation using small
// and large superaccumulators, arXiv 1505.05571, 2015 (the ideas; the carry is resolved at once here, which makes the
// form canonical).
#pragma once

#include "base/datatype.hpp"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace kumihimo::kernels {

template <class Real>
struct ExactSum {
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  static constexpr int digits = std::numeric_limits<Real>::digits; // 53, 24
  // Bits from the least subnormal to the largest finite value: 2098, 277.
  static constexpr int value_bits = std::numeric_limits<Real>::max_exponent - std::numeric_limits<Real>::min_exponent +
                                    std::numeric_limits<Real>::digits;
  // The sign, and room for carries: 2^77 addends of double and 2^42 of float cannot overflow.
  static constexpr int headroom_bits = 40;
  static constexpr int limbs = (value_bits + headroom_bits + 63) / 64;

  std::uint64_t limb[limbs];
  std::uint64_t seen; // bits of SpecialValues, of all addends

  void add(Real value);
  void merge(const ExactSum& other);
  Real round() const;

  bool operator==(const ExactSum&) const = default;
};

// All of them are or-ed together, so that they too depend on no order.
struct SpecialValues {
  static constexpr std::uint64_t negative_zero = 1, other = 2, positive_infinity = 4, negative_infinity = 8, nan = 16;
};

static_assert(sizeof(ExactSum<double>) == 280 && sizeof(ExactSum<float>) == 48);
static_assert(std::is_trivial_v<ExactSum<double>> && std::is_trivial_v<ExactSum<float>>);
extern template struct ExactSum<float>;
extern template struct ExactSum<double>;

// The same over vectors, by type, as a collective needs them. No pointer needs to be aligned.
struct ExactKernels {
  std::int64_t bytes; // of an accumulator
  // sums[i] = the accumulator of the one addend values[i].
  void (*expand)(const void* values, void* sums, std::int64_t count);
  // target[i] = left[i] + right[i]; target may be either. The form is that of an engine's reduction; no context.
  void (*merge)(const void* context, const void* left, const void* right, void* target, std::int64_t count);
  void (*round)(const void* sums, void* values, std::int64_t count);
};

// Null but for float32 and float64.
const ExactKernels* find_exact_kernels(DataType type);

} // namespace kumihimo::kernels
