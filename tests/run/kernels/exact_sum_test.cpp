// Exact sums against the golden copy: one counter a bit, carried and rounded by plain loops. Then the properties that
// make them worth their bytes: no order, grouping or split changes a bit. And the checks themselves, against merges and
// roundings that are wrong in one way each.
#include "base/int128.hpp"
#include "kernels/exact_sum.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace kumihimo::kernels {
namespace {

template <class Real>
using BitsOf = typename ExactSum<Real>::Bits;
template <class Real>
BitsOf<Real> bits(Real value) {
  return std::bit_cast<BitsOf<Real>>(value);
}

// The sum of finite values, rounded once. counts[b]: how often the bit worth 2^b least subnormals was added.
template <class Real>
Real golden_sum(const std::vector<Real>& values) {
  constexpr int digits = std::numeric_limits<Real>::digits, size = ExactSum<Real>::value_bits + 80;
  const int least = std::numeric_limits<Real>::min_exponent - digits; // of the least subnormal, as a power of two
  std::vector<std::int64_t> counts(size, 0);
  bool only_negative_zeros = !values.empty();
  for (const Real value : values) {
    only_negative_zeros &= value == 0 && std::signbit(value);
    Real rest = std::abs(value);
    while (rest > 0) { // the highest bit first; both lines are exact
      const int power = std::ilogb(rest);
      counts[static_cast<std::size_t>(power - least)] += std::signbit(value) ? -1 : 1;
      rest -= std::ldexp(Real{1}, power);
    }
  }
  std::int64_t carry = 0;
  const auto carry_up = [&] {
    for (std::int64_t& count : counts) {
      count += carry;
      carry = (count - (count & 1)) / 2;
      count &= 1;
    }
  };
  carry_up();
  const bool negative = carry < 0;
  if (negative) { // two's complement: the others, and one more
    for (std::int64_t& count : counts) count = 1 - count;
    carry = 1;
    carry_up();
  }
  int top = size - 1;
  while (top >= 0 && counts[static_cast<std::size_t>(top)] == 0) --top;
  if (top < 0) return only_negative_zeros ? -Real{0} : Real{0};
  const int last = std::max(0, top - digits + 1); // the last bit that is kept
  std::uint64_t kept = 0;
  for (int b = top; b >= last; --b) kept = 2 * kept + static_cast<std::uint64_t>(counts[static_cast<std::size_t>(b)]);
  const bool half = last > 0 && counts[static_cast<std::size_t>(last - 1)] != 0;
  bool more = false;
  for (int b = 0; b < last - 1; ++b) more |= counts[static_cast<std::size_t>(b)] != 0;
  if (half && (more || kept % 2 == 1)) ++kept;
  // ldexp is exact here, or overflows as it should: `kept` has at most `digits` bits and a zero.
  const Real magnitude = std::ldexp(static_cast<Real>(kept), last + least);
  return negative ? -magnitude : magnitude;
}

template <class Real>
ExactSum<Real> sum_of(const std::vector<Real>& values) {
  ExactSum<Real> sum{};
  for (const Real value : values) sum.add(value);
  return sum;
}

// Finite values of every magnitude; many of them cancel.
template <class Real>
std::vector<Real> values(std::mt19937_64& random, std::size_t most) {
  std::vector<Real> list;
  const auto any = [&] {
    for (;;) {
      const auto value = std::bit_cast<Real>(static_cast<BitsOf<Real>>(random()));
      if (std::isfinite(value)) return value;
    }
  };
  const int kind = static_cast<int>(random() % 5);
  const int near = static_cast<int>(random() % 200) - 100;
  for (std::size_t n = random() % (most + 1); list.size() < n;) {
    const auto significand = static_cast<Real>(static_cast<std::int32_t>(random()));
    if (kind == 0) list.push_back(any());
    if (kind == 1) list.push_back(std::ldexp(significand, near + static_cast<int>(random() % 12) - 40));
    if (kind == 2) { // subnormals and their neighbours
      const auto tiny = static_cast<BitsOf<Real>>(random() % (BitsOf<Real>{4} << (ExactSum<Real>::digits - 1)));
      list.push_back(random() % 2 ? -std::bit_cast<Real>(tiny) : std::bit_cast<Real>(tiny));
    }
    if (kind == 3) { // about the largest value
      const Real most_finite = std::numeric_limits<Real>::max();
      list.push_back((random() % 2 ? 1 : -1) * most_finite / static_cast<Real>(std::size_t{1} << random() % 4));
    }
    if (kind == 4) { // what nearly cancels
      const Real value = any();
      list.push_back(value);
      if (random() % 8) list.push_back(-value);
    }
  }
  return list;
}

template <class Real>
std::string words(const std::vector<Real>& list) {
  std::string text;
  char word[40];
  for (const Real value : list) text += (std::snprintf(word, sizeof word, "%a ", static_cast<double>(value)), word);
  return text;
}

template <class Real>
class ExactSums : public testing::Test {};
using Reals = testing::Types<float, double>;
TYPED_TEST_SUITE(ExactSums, Reals);

TYPED_TEST(ExactSums, agree_with_the_golden_copy_in_bits) {
  std::mt19937_64 random(1);
  int infinite = 0, subnormal = 0, zero = 0;
  for (int turn = 0; turn < 4000; ++turn) {
    const auto list = values<TypeParam>(random, turn % 7 == 0 ? 300 : 9);
    const TypeParam expected = golden_sum(list), found = sum_of(list).round();
    ASSERT_EQ(bits(found), bits(expected)) << words(list);
    infinite += std::isinf(found), zero += found == 0;
    subnormal += std::fpclassify(found) == FP_SUBNORMAL;
  }
  EXPECT_GT(std::min({infinite, subnormal, zero}), 50); // the cases that are asked for did occur
}

TYPED_TEST(ExactSums, of_one_value_are_that_value) {
  std::mt19937_64 random(2);
  for (int turn = 0; turn < 20000; ++turn) {
    const auto value = std::bit_cast<TypeParam>(static_cast<BitsOf<TypeParam>>(random()));
    const TypeParam found = sum_of<TypeParam>({value}).round();
    if (std::isnan(value))
      EXPECT_EQ(bits(found), bits(std::numeric_limits<TypeParam>::quiet_NaN()));
    else
      EXPECT_EQ(bits(found), bits(value));
  }
}

TYPED_TEST(ExactSums, of_two_values_are_the_processors_rounded_sum) {
  std::mt19937_64 random(3);
  for (int turn = 0; turn < 200000; ++turn) {
    const auto a = std::bit_cast<TypeParam>(static_cast<BitsOf<TypeParam>>(random()));
    // Of about the same exponent, or of any: ties, and bits far below.
    auto b = std::bit_cast<TypeParam>(static_cast<BitsOf<TypeParam>>(random()));
    if (turn % 2)
      b = std::ldexp(std::abs(b) < 1 ? b : TypeParam{3} / 4, std::isfinite(a) && a != 0 ? std::ilogb(a) : 0);
    const TypeParam expected = a + b, found = sum_of<TypeParam>({a, b}).round();
    if (std::isnan(expected))
      EXPECT_EQ(bits(found), bits(std::numeric_limits<TypeParam>::quiet_NaN()));
    else
      ASSERT_EQ(bits(found), bits(expected)) << words<TypeParam>({a, b});
  }
}

TYPED_TEST(ExactSums, are_rounded_to_even_at_ties_and_to_infinity_past_the_last_one) {
  using Limits = std::numeric_limits<TypeParam>;
  const TypeParam one = 1, ulp = Limits::epsilon(), half = ulp / 2, least = Limits::denorm_min(), most = Limits::max();
  const TypeParam half_of_last = std::ldexp(ulp, Limits::max_exponent - 2); // half a unit of the last place of `most`
  const TypeParam infinity = Limits::infinity();
  const auto sum = [](std::vector<TypeParam> list) { return sum_of(list).round(); };
  EXPECT_EQ(sum({one, half}), one);
  EXPECT_EQ(sum({one, half, least}), one + ulp);
  EXPECT_EQ(sum({one, half, -least}), one);
  EXPECT_EQ(sum({one + ulp, half}), one + 2 * ulp);
  EXPECT_EQ(sum({-one, -half, -least}), -(one + ulp));
  EXPECT_EQ(sum({most, half_of_last}), infinity);
  EXPECT_EQ(sum({most, half_of_last, -least}), most);
  EXPECT_EQ(sum({-most, -half_of_last, least}), -most);
  EXPECT_EQ(sum({most, most, most, -most, -most}), most); // what overflows on the way does not at the end
  EXPECT_EQ(sum({most, most, -most, -most, least}), least);
  EXPECT_EQ(sum({Limits::min(), -least}), Limits::min() - least); // the largest subnormal
}

TYPED_TEST(ExactSums, of_what_is_no_finite_number_are_defined) {
  using Limits = std::numeric_limits<TypeParam>;
  const TypeParam infinity = Limits::infinity(), most = Limits::max(), zero = 0;
  const auto nan = bits(Limits::quiet_NaN());
  const auto with_payload = std::bit_cast<TypeParam>(static_cast<BitsOf<TypeParam>>(~BitsOf<TypeParam>{0} - 5));
  const auto sum = [](std::vector<TypeParam> list) { return bits(sum_of(list).round()); };
  EXPECT_EQ(sum({infinity, -most, -most}), bits(infinity));
  EXPECT_EQ(sum({-infinity, most, 1}), bits(-infinity));
  EXPECT_EQ(sum({infinity, -infinity}), nan);
  EXPECT_EQ(sum({infinity, 1, -infinity, infinity}), nan);
  EXPECT_EQ(sum({with_payload, 1}), nan);
  EXPECT_EQ(sum({infinity, with_payload, -infinity}), nan);
  EXPECT_EQ(sum({}), bits(zero));
  EXPECT_EQ(sum({-zero, -zero}), bits(-zero));
  EXPECT_EQ(sum({-zero, zero}), bits(zero));
  EXPECT_EQ(sum({TypeParam{1}, TypeParam{-1}, -zero}), bits(zero));
}

// --- order and grouping

template <class Real>
using Merge = std::function<ExactSum<Real>(const ExactSum<Real>&, const ExactSum<Real>&)>;

// What is wrong with a way to merge: the values in some order, cut in some parts, and the parts added up in some tree,
// must be the bytes of them all added one after the other.
template <class Real>
std::string fault(const Merge<Real>& merge, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  for (int turn = 0; turn < 300; ++turn) {
    auto list = values<Real>(random, 40);
    if (turn % 10 == 0) list.push_back(std::numeric_limits<Real>::infinity());
    if (turn % 30 == 0) list.push_back(-std::numeric_limits<Real>::infinity());
    const ExactSum<Real> expected = sum_of(list);
    std::shuffle(list.begin(), list.end(), random);
    std::vector<ExactSum<Real>> parts(1 + random() % 8, ExactSum<Real>{});
    for (const Real value : list) parts[random() % parts.size()].add(value);
    while (parts.size() > 1) {
      const std::size_t at = random() % (parts.size() - 1);
      parts[at] = random() % 2 ? merge(parts[at], parts[at + 1]) : merge(parts[at + 1], parts[at]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    }
    if (std::memcmp(&parts[0], &expected, sizeof expected) != 0) return "other bytes of " + words(list);
  }
  return {};
}

TYPED_TEST(ExactSums, are_the_same_bytes_in_any_order_and_grouping) {
  using Sum = ExactSum<TypeParam>;
  const Merge<TypeParam> merge = [](const Sum& a, const Sum& b) {
    Sum s = a;
    s.merge(b);
    return s;
  };
  EXPECT_EQ(fault(merge, 4), "");
  const Merge<TypeParam> by_vector = [](const Sum& a, const Sum& b) {
    Sum s;
    find_exact_kernels(sizeof(TypeParam) == 8 ? DataType::float64 : DataType::float32)->merge(nullptr, &a, &b, &s, 1);
    return s;
  };
  EXPECT_EQ(fault(by_vector, 5), "");
}

TYPED_TEST(ExactSums, sabotage_is_seen) {
  using Sum = ExactSum<TypeParam>;
  const Merge<TypeParam> no_carry = [](const Sum& a, const Sum& b) {
    Sum s = a;
    for (int i = 0; i < Sum::limbs; ++i) s.limb[i] += b.limb[i];
    s.seen |= b.seen;
    return s;
  };
  EXPECT_NE(fault(no_carry, 4), "");
  // The carry is lost at one limb alone.
  for (int lost = 1; lost < Sum::limbs; ++lost) {
    const Merge<TypeParam> nearly = [lost](const Sum& a, const Sum& b) {
      Sum s = a;
      std::uint64_t carry = 0;
      for (int i = 0; i < Sum::limbs; ++i) {
        const Wide wide = static_cast<Wide>(a.limb[i]) + b.limb[i] + (i == lost ? 0 : carry);
        s.limb[i] = static_cast<std::uint64_t>(wide);
        carry = static_cast<std::uint64_t>(wide >> 64);
      }
      s.seen |= b.seen;
      return s;
    };
    EXPECT_NE(fault(nearly, 4), "") << "limb " << lost;
  }
  const Merge<TypeParam> forgets_infinities = [](const Sum& a, const Sum& b) {
    Sum s = a;
    s.merge(b);
    s.seen = a.seen;
    return s;
  };
  EXPECT_NE(fault(forgets_infinities, 4), "");
  // Rounded in between, as any floating sum is.
  const Merge<TypeParam> rounded = [](const Sum& a, const Sum& b) { return sum_of<TypeParam>({a.round(), b.round()}); };
  EXPECT_NE(fault(rounded, 4), "");
}

// --- vectors

TYPED_TEST(ExactSums, of_vectors_need_no_alignment_and_may_be_made_in_place) {
  constexpr DataType type = sizeof(TypeParam) == 8 ? DataType::float64 : DataType::float32;
  const ExactKernels& kernels = *find_exact_kernels(type);
  std::mt19937_64 random(6);
  constexpr std::int64_t count = 37;
  for (std::size_t offset = 0; offset < 8; ++offset)
    for (const int target : {0, 1, 2}) { // the left operand, the right one, and neither
      std::vector<TypeParam> a(count), b(count);
      for (auto* list : {&a, &b})
        for (TypeParam& value : *list)
          value = std::ldexp(static_cast<TypeParam>(static_cast<std::int16_t>(random())), 3);
      const auto bytes = static_cast<std::size_t>(count * kernels.bytes);
      std::vector<std::vector<char>> areas(3, std::vector<char>(bytes + 16, 0x5a));
      const auto at = [&](int area) { return areas[static_cast<std::size_t>(area)].data() + offset; };
      kernels.expand(a.data(), at(0), count);
      kernels.expand(b.data(), at(1), count);
      kernels.merge(nullptr, at(0), at(1), at(target), count);
      std::vector<char> rounded(count * sizeof(TypeParam) + 16, 0x5a);
      kernels.round(at(target), rounded.data() + offset, count);
      for (std::int64_t i = 0; i < count; ++i) {
        TypeParam found;
        std::memcpy(&found, rounded.data() + offset + static_cast<std::size_t>(i) * sizeof found, sizeof found);
        const auto k = static_cast<std::size_t>(i);
        EXPECT_EQ(bits(found), bits(golden_sum<TypeParam>({a[k], b[k]})));
      }
      for (const auto& area : areas) {
        EXPECT_EQ(std::count(area.begin(), area.begin() + static_cast<std::ptrdiff_t>(offset), 0x5a),
                  static_cast<std::ptrdiff_t>(offset));
        EXPECT_EQ(area[offset + bytes], 0x5a);
      }
    }
}

TEST(ExactKernelsOf, floating_types_alone) {
  for (const DataType type : builtin_datatypes)
    EXPECT_EQ(find_exact_kernels(type) != nullptr, is_floating(type)) << name_of(type);
  EXPECT_EQ(find_exact_kernels(DataType::float64)->bytes, 280);
  EXPECT_EQ(find_exact_kernels(DataType::float32)->bytes, 48);
}

} // namespace
} // namespace kumihimo::kernels
