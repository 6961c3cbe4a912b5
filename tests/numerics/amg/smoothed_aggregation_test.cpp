#include "amg/smoothed_aggregation.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace kumihimo::amg {
namespace {

struct Matrix {
  std::vector<std::int64_t> begins{0};
  std::vector<std::int32_t> columns;
  std::vector<double> values;
  CompressedRows rows() const { return {begins, columns, values}; }
  std::int64_t size() const { return static_cast<std::int64_t>(begins.size()) - 1; }
};

// 7 points on n^3 cells, Dirichlet.
Matrix poisson(int n) {
  Matrix a;
  const auto add = [&](int i, int j, int k, double value) {
    if (std::min({i, j, k}) < 0 || std::max({i, j, k}) >= n) return;
    a.columns.push_back((k * n + j) * n + i);
    a.values.push_back(value);
  };
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      for (int i = 0; i < n; ++i) {
        add(i, j, k - 1, -1), add(i, j - 1, k, -1), add(i - 1, j, k, -1), add(i, j, k, 6);
        add(i + 1, j, k, -1), add(i, j + 1, k, -1), add(i, j, k + 1, -1);
        a.begins.push_back(static_cast<std::int64_t>(a.columns.size()));
      }
  return a;
}

using Vector = std::vector<double>;

Vector random(std::int64_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Vector x(static_cast<std::size_t>(size));
  for (double& each : x) each = value(generator);
  return x;
}

double dot(const Vector& x, const Vector& y) {
  double sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * y[i];
  return sum;
}

Vector product(const Matrix& a, const Vector& x) {
  Vector y(x.size());
  for (std::int64_t i = 0; i < a.size(); ++i)
    for (std::int64_t k = a.begins[static_cast<std::size_t>(i)]; k < a.begins[static_cast<std::size_t>(i) + 1]; ++k)
      y[static_cast<std::size_t>(i)] +=
          a.values[static_cast<std::size_t>(k)] * x[static_cast<std::size_t>(a.columns[static_cast<std::size_t>(k)])];
  return y;
}

std::unique_ptr<SmoothedAggregation> preconditioner(const Matrix& a) {
  auto made = SmoothedAggregation::make(a.rows());
  EXPECT_TRUE(made) << made.error().sentence();
  return std::move(*made);
}

Vector applied(const SmoothedAggregation& m, const Vector& r) {
  Vector z(r.size());
  m.apply(r.data(), z.data());
  return z;
}

class Amg : public testing::Test {
  void SetUp() override {
    if (!is_available()) GTEST_SKIP() << "this build has no AMGCL";
  }
};

TEST_F(Amg, IsSymmetricAndPositive) {
  const Matrix a = poisson(12);
  const auto m = preconditioner(a);
  for (unsigned seed = 0; seed < 8; ++seed) {
    const Vector x = random(a.size(), seed), y = random(a.size(), seed + 100);
    const double xy = dot(x, applied(*m, y)), yx = dot(y, applied(*m, x));
    EXPECT_NEAR(xy, yx, 1e-12 * std::sqrt(dot(x, x) * dot(y, y)));
    EXPECT_GT(dot(x, applied(*m, x)), 0);
  }
}

// Richardson's iteration x += M^-1 (b - A x) contracts the residual by a factor that does not grow with the grid.
TEST_F(Amg, ContractsTheResidualOnAnyGrid) {
  for (const int n : {8, 16, 32}) {
    const Matrix a = poisson(n);
    const auto m = preconditioner(a);
    const Vector b = random(a.size(), 1);
    Vector x(b.size());
    double before = 0, after = std::sqrt(dot(b, b));
    for (int i = 0; i < 10; ++i) {
      Vector r = product(a, x);
      for (std::size_t k = 0; k < r.size(); ++k) r[k] = b[k] - r[k];
      before = std::sqrt(dot(r, r));
      const Vector z = applied(*m, r);
      for (std::size_t k = 0; k < x.size(); ++k) x[k] += z[k];
      r = product(a, x);
      for (std::size_t k = 0; k < r.size(); ++k) r[k] = b[k] - r[k];
      after = std::sqrt(dot(r, r));
    }
    EXPECT_LT(after, std::max(0.8 * before, 1e-13)) << n; // a small one is solved directly
  }
}

TEST_F(Amg, GivesTheSameBitsOnAnyNumberOfThreads) {
  Matrix a = poisson(20); // with coefficients at random, a function of the pair so that it stays symmetric
  std::vector<double> diagonal(static_cast<std::size_t>(a.size()), 0.01);
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.size()); ++i)
    for (auto k = static_cast<std::size_t>(a.begins[i]); k < static_cast<std::size_t>(a.begins[i + 1]); ++k) {
      const auto j = static_cast<std::size_t>(a.columns[k]);
      if (i == j) continue;
      std::mt19937 generator(static_cast<unsigned>(std::min(i, j) * 8191 + std::max(i, j)));
      a.values[k] = -std::uniform_real_distribution<double>(0.1, 2)(generator);
      diagonal[i] -= a.values[k];
    }
  for (std::size_t i = 0; i < static_cast<std::size_t>(a.size()); ++i)
    for (auto k = static_cast<std::size_t>(a.begins[i]); k < static_cast<std::size_t>(a.begins[i + 1]); ++k)
      if (static_cast<std::size_t>(a.columns[k]) == i) a.values[k] = diagonal[i];
  const Vector r = random(a.size(), 3);
  omp_set_num_threads(1);
  const Vector expected = applied(*preconditioner(a), r);
  for (const int threads : {2, 3, 5, 8}) {
    omp_set_num_threads(threads);
    EXPECT_EQ(applied(*preconditioner(a), r), expected) << threads;
  }
  omp_set_num_threads(1);
}

TEST(AmgWithoutAmgcl, SaysWhatToInstall) {
  if (is_available()) GTEST_SKIP() << "this build has AMGCL";
  const Matrix a = poisson(3);
  const auto made = SmoothedAggregation::make(a.rows());
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().sentence().find("AMGCL"), std::string::npos);
}

} // namespace
} // namespace kumihimo::amg
