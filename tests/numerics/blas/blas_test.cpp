#include "blas/blas.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <vector>

namespace kumihimo::blas {
namespace {

std::shared_ptr<const Blas> some_blas() {
  for (const char* const path : {"", "libblas.so.3"})
    if (const auto found = Blas::open(path, "blas")) return *found;
  return nullptr;
}

// Column-major, with a leading dimension larger than the number of rows.
struct Padded {
  std::int64_t rows, columns, leading;
  std::vector<double> values;
  Padded(std::int64_t m, std::int64_t n, double seed)
      : rows(m), columns(n), leading(m + 3), values(static_cast<std::size_t>(leading * n), 77) {
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < m; ++i) at(i, j) = std::sin(seed + 7.0 * static_cast<double>(i + 13 * j));
  }
  double& at(std::int64_t i, std::int64_t j) { return values[static_cast<std::size_t>(i + j * leading)]; }
};

TEST(Blas, NamesALibraryThatCannotBeUsed) {
  const auto missing = Blas::open("/no/such/library.so", "blas");
  ASSERT_FALSE(missing);
  EXPECT_NE(missing.error().sentence().find("blas must name a library that can be loaded (got /no/such"),
            std::string::npos);
  const auto other = Blas::open("libm.so.6", "blas");
  ASSERT_FALSE(other);
  EXPECT_NE(other.error().sentence().find("must have dgemm_ (got libm.so.6); name another with blas"),
            std::string::npos)
      << other.error().sentence();
}

TEST(Blas, MultipliesAndKeepsWhatIsBetweenColumns) {
  const auto blas = some_blas();
  if (!blas) GTEST_SKIP() << "no BLAS library is here";
  Padded a(5, 3, 1), b(3, 4, 2), c(5, 4, 3), expected = c;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 5; ++i) {
      double sum = 0;
      for (int k = 0; k < 3; ++k) sum += a.at(i, k) * b.at(k, j);
      expected.at(i, j) = 0.5 * expected.at(i, j) - sum;
    }
  blas->set_threads(1);
  blas->multiply(5, 4, 3, -1, a.values.data(), a.leading, b.values.data(), b.leading, 0.5, c.values.data(), c.leading);
  for (std::size_t i = 0; i < c.values.size(); ++i) EXPECT_NEAR(c.values[i], expected.values[i], 1e-14);
  blas->multiply(0, 4, 3, 1, nullptr, 1, nullptr, 1, 1, nullptr, 1); // nothing
}

TEST(Blas, SolvesTriangles) {
  const auto blas = some_blas();
  if (!blas) GTEST_SKIP() << "no BLAS library is here";
  Padded t(4, 4, 1);
  for (int i = 0; i < 4; ++i) t.at(i, i) = 2 + i;
  const Padded x(4, 3, 2), y(3, 4, 5);
  const auto entry = [&](int i, int j, bool lower) {
    return i == j ? (lower ? 1 : t.at(i, i)) : (i > j) == lower ? t.at(i, j) : 0;
  };
  for (const bool lower : {true, false}) {
    Padded b = x;
    for (int j = 0; j < 3; ++j)
      for (int i = 0; i < 4; ++i) {
        b.at(i, j) = 0;
        for (int k = 0; k < 4; ++k) b.at(i, j) += entry(i, k, lower) * Padded(x).at(k, j);
      }
    if (lower)
      blas->solve_unit_lower(4, 3, t.values.data(), t.leading, b.values.data(), b.leading);
    else
      blas->solve_upper(4, 3, t.values.data(), t.leading, b.values.data(), b.leading);
    for (std::size_t i = 0; i < b.values.size(); ++i) EXPECT_NEAR(b.values[i], x.values[i], 1e-13);
  }
  Padded b = y;
  for (int j = 0; j < 4; ++j)
    for (int i = 0; i < 3; ++i) {
      b.at(i, j) = 0;
      for (int k = 0; k < 4; ++k) b.at(i, j) += Padded(y).at(i, k) * entry(k, j, false);
    }
  blas->solve_upper_right(3, 4, t.values.data(), t.leading, b.values.data(), b.leading);
  for (std::size_t i = 0; i < b.values.size(); ++i) EXPECT_NEAR(b.values[i], y.values[i], 1e-13);
}

} // namespace
} // namespace kumihimo::blas
