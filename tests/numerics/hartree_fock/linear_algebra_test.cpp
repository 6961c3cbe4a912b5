#include "hartree_fock/linear_algebra.hpp"
#include "threads/team.hpp"
#include "two_electron/random_basis.hpp"

#include <gtest/gtest.h>

namespace kumihimo::hartree_fock {
namespace {

// 400: an Eigen with threads divides such a product among them, and blocks its depth by their number.
TEST(LinearAlgebra, ProductsHaveTheSameBitsOnAnyThreads) {
  two_electron::Random random(1);
  const Matrix a = random.density(400), b = random.density(400);
  const int before = threads::count();
  ASSERT_TRUE(threads::use(1));
  const Matrix product_of_one = product(a, b), transform_of_one = transform(a, b);
  ASSERT_TRUE(threads::use(3));
  EXPECT_EQ(product(a, b).values, product_of_one.values);
  EXPECT_EQ(transform(a, b).values, transform_of_one.values);
  ASSERT_TRUE(threads::use(before));
  double entry = 0; // (7, 11), by its definition
  for (int k = 0; k < 400; ++k) entry += a(7, k) * b(k, 11);
  EXPECT_NEAR(product_of_one(7, 11), entry, 1e-11);
}

} // namespace
} // namespace kumihimo::hartree_fock
