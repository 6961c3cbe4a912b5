#include "kernels/exact_sum.hpp"

#include <bit>
#include <cstring>

namespace kumihimo::kernels {
namespace {

template <class Real>
using BitsOf = typename ExactSum<Real>::Bits;

// The fields of a value's bits.
template <class Real>
struct FloatFields {
  static constexpr int fraction_bits = ExactSum<Real>::digits - 1;
  static constexpr BitsOf<Real> fraction_mask = (BitsOf<Real>{1} << fraction_bits) - 1;
  static constexpr int special = static_cast<int>((~BitsOf<Real>{0} >> 1) >> fraction_bits); // infinities and NaNs

  explicit FloatFields(BitsOf<Real> bits)
      : negative(bits >> (sizeof bits * 8 - 1) != 0), exponent(static_cast<int>(bits >> fraction_bits) & special),
        fraction(bits & fraction_mask) {}

  bool negative;
  int exponent;
  std::uint64_t fraction;
};

// a + b + carry, and the new carry: 0 or 1.
std::uint64_t added(std::uint64_t a, std::uint64_t b, std::uint64_t& carry) {
  std::uint64_t sum = 0;
  const bool first = __builtin_add_overflow(a, b, &sum);
  const bool second = __builtin_add_overflow(sum, carry, &sum);
  carry = first | second;
  return sum;
}

std::uint64_t subtracted(std::uint64_t a, std::uint64_t b, std::uint64_t& borrow) {
  std::uint64_t difference = 0;
  const bool first = __builtin_sub_overflow(a, b, &difference);
  const bool second = __builtin_sub_overflow(difference, borrow, &difference);
  borrow = first | second;
  return difference;
}

// Elements of plain memory, which messages may bring to any address.
template <class T>
T loaded(const void* from, std::int64_t i) {
  T value;
  std::memcpy(&value, static_cast<const char*>(from) + i * static_cast<std::int64_t>(sizeof value), sizeof value);
  return value;
}
template <class T>
void store(void* to, std::int64_t i, const T& value) {
  std::memcpy(static_cast<char*>(to) + i * static_cast<std::int64_t>(sizeof value), &value, sizeof value);
}

template <class Real>
Real value_of(BitsOf<Real> bits) {
  return std::bit_cast<Real>(bits);
}

template <class Real>
BitsOf<Real> quiet_nan() {
  constexpr int fraction_bits = FloatFields<Real>::fraction_bits;
  return BitsOf<Real>{static_cast<BitsOf<Real>>(FloatFields<Real>::special)} << fraction_bits |
         BitsOf<Real>{1} << (fraction_bits - 1);
}

// Adds a value to the accumulator that lies there.
template <class Real>
void add_to(void* sum, Real value) {
  constexpr int limbs = ExactSum<Real>::limbs;
  const FloatFields<Real> f(std::bit_cast<BitsOf<Real>>(value));
  const auto note = [sum](std::uint64_t what) { store(sum, limbs, loaded<std::uint64_t>(sum, limbs) | what); };
  if (f.exponent == FloatFields<Real>::special)
    return note(f.fraction != 0 ? SpecialValues::nan
                : f.negative    ? SpecialValues::negative_infinity
                                : SpecialValues::positive_infinity);
  if (f.exponent == 0 && f.fraction == 0) return note(f.negative ? SpecialValues::negative_zero : SpecialValues::other);
  note(SpecialValues::other);
  // Subnormals have the exponent of the least normal numbers, and no hidden bit.
  const int shift = f.exponent == 0 ? 0 : f.exponent - 1;
  const std::uint64_t significand = f.fraction | std::uint64_t{f.exponent != 0} << FloatFields<Real>::fraction_bits;
  const int offset = shift % 64;
  std::uint64_t carry = 0;
  int i = shift / 64;
  const auto change = [&](std::uint64_t by) {
    const auto limb = loaded<std::uint64_t>(sum, i);
    store(sum, i++, f.negative ? subtracted(limb, by, carry) : added(limb, by, carry));
  };
  change(significand << offset);
  if (i < limbs) change(offset == 0 ? 0 : significand >> (64 - offset));
  while (carry != 0 && i < limbs) change(0);
}

// Whether any bit below `end` is set.
bool any_below(const std::uint64_t* limbs, int end) {
  for (int i = 0; i < end / 64; ++i)
    if (limbs[i] != 0) return true;
  return (limbs[end / 64] & ((std::uint64_t{1} << end % 64) - 1)) != 0;
}

// Of a number that is not negative, without a sign. The bits of a value count the units of a subnormal; a hidden bit
// that comes in raises the exponent by itself, and so does a carry past the last significand, up to infinity.
template <class Real>
BitsOf<Real> rounded_bits(const std::uint64_t* limbs) {
  constexpr int fraction_bits = FloatFields<Real>::fraction_bits;
  int top = ExactSum<Real>::limbs - 1; // the highest limb that is not zero
  while (top > 0 && limbs[top] == 0) --top;
  const int highest = top * 64 + std::bit_width(limbs[top]) - 1;
  if (highest <= fraction_bits) return static_cast<BitsOf<Real>>(limbs[0]);
  const int shift = highest - fraction_bits; // bits below the last one that is kept
  if (shift + 1 >= FloatFields<Real>::special)
    return static_cast<BitsOf<Real>>(FloatFields<Real>::special) << fraction_bits;
  const int first = shift / 64, offset = shift % 64, half = shift - 1;
  std::uint64_t kept = limbs[first] >> offset;
  if (offset != 0 && first < top) kept |= limbs[first + 1] << (64 - offset);
  const bool half_set = (limbs[half / 64] >> half % 64 & 1) != 0;
  const bool up = half_set && ((kept & 1) != 0 || any_below(limbs, half));
  return (static_cast<BitsOf<Real>>(shift) << fraction_bits) + static_cast<BitsOf<Real>>(kept) + up;
}

} // namespace

template <class Real>
void ExactSum<Real>::add(Real value) {
  add_to(this, value);
}

template <class Real>
void ExactSum<Real>::merge(const ExactSum& other) {
  std::uint64_t carry = 0;
  for (int i = 0; i < limbs; ++i) limb[i] = added(limb[i], other.limb[i], carry);
  seen |= other.seen;
}

template <class Real>
Real ExactSum<Real>::round() const {
  constexpr int fraction_bits = FloatFields<Real>::fraction_bits;
  constexpr Bits sign_bit = Bits{1} << (sizeof(Bits) * 8 - 1);
  constexpr Bits infinity = static_cast<Bits>(FloatFields<Real>::special) << fraction_bits;
  constexpr std::uint64_t both = SpecialValues::positive_infinity | SpecialValues::negative_infinity;
  if ((seen & SpecialValues::nan) != 0 || (seen & both) == both) return value_of<Real>(quiet_nan<Real>());
  if ((seen & both) != 0)
    return value_of<Real>((seen & SpecialValues::negative_infinity) != 0 ? infinity | sign_bit : infinity);

  if (limb[limbs - 1] >> 63 == 0) {
    const Bits bits = rounded_bits<Real>(limb);
    return value_of<Real>(bits == 0 && seen == SpecialValues::negative_zero ? sign_bit : bits);
  }
  std::uint64_t magnitude[limbs];
  std::uint64_t borrow = 0;
  for (int i = 0; i < limbs; ++i) magnitude[i] = subtracted(0, limb[i], borrow);
  return value_of<Real>(rounded_bits<Real>(magnitude) | sign_bit);
}

template struct ExactSum<float>;
template struct ExactSum<double>;

namespace {

template <class Real>
void expand(const void* values, void* sums, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    char* const sum = static_cast<char*>(sums) + i * static_cast<std::int64_t>(sizeof(ExactSum<Real>));
    std::memset(sum, 0, sizeof(ExactSum<Real>)); // where it lies: a copy of what was just written waits for it
    add_to(sum, loaded<Real>(values, i));
  }
}

// Limb by limb where it lies: no accumulator is copied aside.
template <class Real>
void merge(const void*, const void* left, const void* right, void* target, std::int64_t count) {
  constexpr int limbs = ExactSum<Real>::limbs;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = i * (limbs + 1);
    std::uint64_t carry = 0;
    for (int j = 0; j < limbs; ++j)
      store(target, at + j, added(loaded<std::uint64_t>(left, at + j), loaded<std::uint64_t>(right, at + j), carry));
    store(target, at + limbs, loaded<std::uint64_t>(left, at + limbs) | loaded<std::uint64_t>(right, at + limbs));
  }
}

template <class Real>
void round(const void* sums, void* values, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) store(values, i, loaded<ExactSum<Real>>(sums, i).round());
}

template <class Real>
constexpr ExactKernels kernels_of = {sizeof(ExactSum<Real>), expand<Real>, merge<Real>, round<Real>};

} // namespace

const ExactKernels* find_exact_kernels(DataType type) {
  if (type == DataType::float64) return &kernels_of<double>;
  if (type == DataType::float32) return &kernels_of<float>;
  return nullptr;
}

} // namespace kumihimo::kernels
