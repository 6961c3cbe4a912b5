// Every variant against the golden copy by the check that tuning uses; and that check itself against kernels that are
// wrong in one way each.
#include "kernels/check.hpp"
#include "kernels/inputs.hpp"
#include "kernels/plans.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

namespace kumihimo::kernels {
namespace {

class ReduceVariants : public testing::TestWithParam<ReduceVariant> {
 protected:
  void SetUp() override {
    if (!GetParam().runs_here) GTEST_SKIP() << "this processor lacks " << GetParam().name;
  }
};

TEST_P(ReduceVariants, agree_with_the_reference_in_bits) {
  for (DataType type : builtin_datatypes)
    for (Operation op : builtin_operations) {
      if (!is_applicable(type, op)) continue;
      EXPECT_EQ(first_fault(GetParam().kernel(type, op), type, op), "") << GetParam().name;
    }
}

TEST_P(ReduceVariants, agree_on_all_pairs_of_special_values) {
  for (DataType type : builtin_datatypes)
    for (Operation op : builtin_operations) {
      if (!is_applicable(type, op)) continue;
      const auto special = special_bits(type);
      const auto count = static_cast<std::int64_t>(special.size() * special.size());
      const auto bytes = static_cast<std::size_t>(count * size_of(type));
      std::vector<unsigned char> left(bytes), right(bytes), found(bytes), expected(bytes);
      for (std::int64_t i = 0; i < count; ++i) {
        const auto at = i * size_of(type), n = static_cast<std::int64_t>(special.size());
        std::memcpy(left.data() + at, &special[static_cast<std::size_t>(i / n)],
                    static_cast<std::size_t>(size_of(type)));
        std::memcpy(right.data() + at, &special[static_cast<std::size_t>(i % n)],
                    static_cast<std::size_t>(size_of(type)));
      }
      GetParam().kernel(type, op)(left.data(), right.data(), found.data(), count);
      reduce_plain(type, op)(left.data(), right.data(), expected.data(), count);
      const bool free = is_floating(type) && (op == Operation::sum || op == Operation::prod);
      EXPECT_EQ(first_difference(type, found.data(), expected.data(), count, free), -1)
          << name_of(op) << " of " << name_of(type) << " by " << GetParam().name;
    }
}

TEST_P(ReduceVariants, have_a_kernel_exactly_where_applicable) {
  for (int t = 0; t < datatype_count; ++t)
    for (int o = 0; o < operation_count; ++o) {
      const auto type = static_cast<DataType>(t);
      const auto op = static_cast<Operation>(o);
      const bool expected = op != Operation::user && !is_pair(type) && is_applicable(type, op);
      EXPECT_EQ(GetParam().kernel(type, op) != nullptr, expected) << name_of(op) << name_of(type);
      EXPECT_EQ(reduce_plain(type, op) != nullptr, expected) << name_of(op) << name_of(type);
    }
}

INSTANTIATE_TEST_SUITE_P(, ReduceVariants, testing::ValuesIn(reduce_variants()),
                         [](const auto& suite) { return std::string(suite.param.name); });

// --- sabotage: each of these must be seen by the same check -------------------------------------------------------

template <class T, T (*combine)(T, T)>
void loop(const void* left, const void* right, void* target, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const T r = combine(element<T>(static_cast<const unsigned char*>(left), i),
                        element<T>(static_cast<const unsigned char*>(right), i));
    std::memcpy(static_cast<char*>(target) + i * static_cast<std::int64_t>(sizeof(T)), &r, sizeof(T));
  }
}
std::uint8_t saturating(std::uint8_t a, std::uint8_t b) { return static_cast<std::uint8_t>(std::min(a + b, 255)); }
double careless_max(double a, double b) { return a > b ? a : b; }
double sum(double a, double b) { return a + b; }
double off_by_one_bit(double a, double b) { return (a + b) * (1 + 2.3e-16); }

void forgets_last(const void* left, const void* right, void* target, std::int64_t count) {
  loop<double, sum>(left, right, target, count - (count > 40));
}
void writes_beyond(const void* left, const void* right, void* target, std::int64_t count) {
  loop<double, sum>(left, right, target, count);
  if (count == 37) std::memset(static_cast<char*>(target) + count * 8, 0, 1);
}
void ignores_aliasing(const void* left, const void* right, void* target, std::int64_t count) {
  if (count) std::memset(target, 0, static_cast<std::size_t>(count) * 8); // as a kernel that clears and accumulates
  loop<double, sum>(left, right, target, count);
}

TEST(ReduceComparer, rejects_wrong_kernels) {
  const auto rejected = [](ReduceKernel kernel, DataType type, Operation op) {
    return !first_fault(kernel, type, op).empty();
  };
  EXPECT_FALSE(rejected(loop<double, sum>, DataType::float64, Operation::sum)) << "a right kernel must pass";
  EXPECT_TRUE(rejected(loop<std::uint8_t, saturating>, DataType::uint8, Operation::sum));
  EXPECT_TRUE(rejected(loop<double, careless_max>, DataType::float64, Operation::max));
  EXPECT_TRUE(rejected(loop<double, off_by_one_bit>, DataType::float64, Operation::sum));
  EXPECT_TRUE(rejected(forgets_last, DataType::float64, Operation::sum));
  EXPECT_TRUE(rejected(writes_beyond, DataType::float64, Operation::sum));
  EXPECT_TRUE(rejected(ignores_aliasing, DataType::float64, Operation::sum));
  const std::string wrong = first_fault(forgets_last, DataType::float64, Operation::sum);
  EXPECT_EQ(wrong.find("sum of 41 float64, target of its own, offsets "), 0u) << wrong << ": the input is named";
}

// --- the golden copy against values worked by hand ----------------------------------------------------------------

template <class T>
T reduced(DataType type, Operation op, T left, T right) {
  T target{};
  reduce_plain(type, op)(&left, &right, &target, 1);
  return target;
}

TEST(ReduceReference, wraps_integers) {
  EXPECT_EQ(reduced<std::uint8_t>(DataType::uint8, Operation::sum, 200, 100), 44);
  EXPECT_EQ(reduced<std::int8_t>(DataType::int8, Operation::sum, 127, 1), -128);
  EXPECT_EQ(reduced<std::uint16_t>(DataType::uint16, Operation::prod, 65535, 65535), 1);
  EXPECT_EQ(reduced<std::int32_t>(DataType::int32, Operation::sum, INT32_MIN, -1), INT32_MAX);
  EXPECT_EQ(reduced<std::int32_t>(DataType::int32, Operation::prod, INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(reduced<std::int64_t>(DataType::int64, Operation::sum, INT64_MAX, 1), INT64_MIN);
}

TEST(ReduceReference, orders_integers_by_their_sign) {
  EXPECT_EQ(reduced<std::int8_t>(DataType::int8, Operation::min, -128, 127), -128);
  EXPECT_EQ(reduced<std::uint8_t>(DataType::uint8, Operation::min, 128, 127), 127);
  EXPECT_EQ(reduced<std::uint64_t>(DataType::uint64, Operation::max, 1ull << 63, 1), 1ull << 63);
}

TEST(ReduceReference, has_logical_results_of_zero_and_one) {
  EXPECT_EQ(reduced<std::int32_t>(DataType::int32, Operation::land, 4, 2), 1);
  EXPECT_EQ(reduced<std::int32_t>(DataType::int32, Operation::lor, 0, -8), 1);
  EXPECT_EQ(reduced<std::int32_t>(DataType::int32, Operation::lxor, 4, 2), 0);
  EXPECT_EQ(reduced<std::int32_t>(DataType::int32, Operation::band, 6, 3), 2);
  EXPECT_EQ(reduced<std::int32_t>(DataType::int32, Operation::bor, 6, 3), 7);
  EXPECT_EQ(reduced<std::int32_t>(DataType::int32, Operation::bxor, 6, 3), 5);
}

TEST(ReduceReference, takes_extremes_of_floats_as_ieee_754_2019) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto lower = [](double a, double b) { return reduced(DataType::float64, Operation::min, a, b); };
  const auto upper = [](double a, double b) { return reduced(DataType::float64, Operation::max, a, b); };
  EXPECT_TRUE(std::isnan(lower(nan, 1)) && std::isnan(lower(1, nan)) && std::isnan(upper(nan, 1)));
  EXPECT_TRUE(std::signbit(lower(0.0, -0.0)) && std::signbit(lower(-0.0, 0.0)));
  EXPECT_FALSE(std::signbit(upper(0.0, -0.0)) || std::signbit(upper(-0.0, 0.0)));
  EXPECT_EQ(upper(-1, 2), 2);
  EXPECT_EQ(lower(-1, 2), -1);
}

TEST(ReduceReference, keeps_the_algebra_that_is_claimed) {
  std::mt19937_64 random(7);
  for (DataType type : builtin_datatypes)
    for (Operation op : builtin_operations) {
      if (!is_applicable(type, op)) continue;
      const std::int64_t n = 4000;
      const auto a = operand(type, n, random), b = operand(type, n, random), c = operand(type, n, random);
      std::vector<unsigned char> ab(a.size()), ba(a.size()), left(a.size()), right(a.size());
      const ReduceKernel kernel = reduce_plain(type, op);
      kernel(a.data(), b.data(), ab.data(), n);
      kernel(b.data(), a.data(), ba.data(), n);
      kernel(ab.data(), c.data(), left.data(), n);
      kernel(b.data(), c.data(), right.data(), n);
      kernel(a.data(), right.data(), right.data(), n);
      const bool commutes = first_difference(type, ab.data(), ba.data(), n, true) < 0;
      const bool associates = first_difference(type, left.data(), right.data(), n, true) < 0;
      EXPECT_EQ((Algebra{commutes, associates}), algebra(type, op)) << name_of(op) << " of " << name_of(type);
    }
}

// By the words of MPI, and so that no order of ranks shows: of all pairs of a few values, with NaNs and both zeros.
TEST(ReducePairs, take_the_whole_of_the_one_that_wins_in_any_order) {
  struct Element {
    double value;
    std::int32_t index, gap;
    bool operator==(const Element& e) const { return std::memcmp(this, &e, sizeof e) == 0; }
  };
  std::vector<Element> all;
  for (const double value : {-1.5, -0.0, 0.0, 7.0, std::numeric_limits<double>::quiet_NaN()})
    for (const std::int32_t index : {0, 1, 9}) all.push_back({value, index, 0});
  for (const Operation op : {Operation::minloc, Operation::maxloc}) {
    const ReduceKernel kernel = reduce_plan(DataType::float64_int32, op).kernel;
    ASSERT_NE(kernel, nullptr);
    const auto reduced = [&](const Element& a, const Element& b) {
      Element result{};
      kernel(&a, &b, &result, 1);
      return result;
    };
    for (const Element& a : all)
      for (const Element& b : all) {
        const Element result = reduced(a, b);
        EXPECT_EQ(result, reduced(b, a));
        for (const Element& c : all) EXPECT_EQ(reduced(result, c), reduced(a, reduced(b, c)));
        if (std::isnan(a.value) || std::isnan(b.value)) continue;
        const double best = op == Operation::minloc ? std::min(a.value, b.value) : std::max(a.value, b.value);
        EXPECT_EQ(result.value, best);
        if (a.value == b.value) {
          EXPECT_EQ(result.index, std::min(a.index, b.index));
        }
      }
  }
  EXPECT_FALSE(reduce_plan(DataType::float64_int32, Operation::sum));
  EXPECT_FALSE(reduce_plan(DataType::float64, Operation::minloc));
  for (const DataType type : pair_datatypes) EXPECT_TRUE(reduce_plan(type, Operation::maxloc));
}

} // namespace
} // namespace kumihimo::kernels
