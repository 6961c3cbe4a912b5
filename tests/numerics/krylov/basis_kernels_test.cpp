#include "krylov/basis_kernels.hpp"
#include "krylov/ritz.hpp"
#include "krylov/vector_kernels.hpp"
#include "systems.hpp"
#include "threads/team.hpp"

#include <gtest/gtest.h>

#include <numbers>

namespace kumihimo::krylov {
namespace {

struct Columns {
  std::vector<std::vector<double>> memory;
  KrylovBasis basis;
  Columns(std::int64_t rows, int m) {
    for (int j = 0; j < 2 * m; ++j) memory.push_back(random_vector(rows, static_cast<unsigned>(j)));
    for (int j = 0; j < m; ++j) {
      basis.v.push_back(memory[static_cast<std::size_t>(j)].data());
      basis.u.push_back(memory[static_cast<std::size_t>(m + j)].data());
    }
  }
};

TEST(BasisKernels, GramIsThatOfThePlainLoopOnAnyNumberOfThreads) {
  for (const std::int64_t rows : {0, 1, 9, 1024, 1030, 5000})
    for (const int m : {3, 9}) {
      const Columns columns(rows, m);
      std::vector<double> plain(static_cast<std::size_t>(m * (m + 1))), first;
      gram_plain(rows, columns.basis, plain);
      for (const int team : {1, 2, 3, 5}) {
        ASSERT_TRUE(threads::use(team).ok());
        std::vector<double> sums(plain.size());
        auto blocks = threads::ThreadedArray<double>::zeros(gram_blocks(rows) * static_cast<std::int64_t>(sums.size()));
        ASSERT_TRUE(blocks);
        gram(rows, columns.basis, *blocks, sums);
        if (team == 1) first = sums;
        EXPECT_EQ(first, sums);
      }
      // Products are at most 1.
      const double bound = static_cast<double>(rows) * 0x1p-53 * static_cast<double>(rounding_steps(rows) + rows);
      for (std::size_t k = 0; k < plain.size(); ++k) EXPECT_NEAR(plain[k], first[k], bound);
    }
  ASSERT_TRUE(threads::use(1).ok());
}

TEST(BasisKernels, CombinationsHaveTheBitsOfThePlainLoop) {
  for (const int team : {1, 3})
    for (const std::int64_t rows : {1, 255, 256, 257, 3000}) {
      ASSERT_TRUE(threads::use(team).ok());
      const int m = 9;
      Columns fast(rows, m), plain(rows, m);
      std::vector<double> x = random_vector(rows, 50), x_plain = x;
      const std::vector<double> dx = random_vector(m, 60), r = random_vector(m, 61), p = random_vector(m, 62);
      const auto targets = [](Columns& c, std::vector<double>& to) {
        return CombinationTargets{to.data(), c.basis.u[1], c.basis.v[1], c.basis.u[0], c.basis.v[0]};
      };
      combine(rows, fast.basis, {dx, r, p}, targets(fast, x));
      combine_plain(rows, plain.basis, {dx, r, p}, targets(plain, x_plain));
      EXPECT_EQ(x, x_plain);
      EXPECT_EQ(fast.memory, plain.memory);
    }
  ASSERT_TRUE(threads::use(1).ok());
}

// The Laplacian's eigenvalues are 2 - 2 cos(k pi / (n + 1)): n iterations find them.
TEST(RitzValues, AreTheExtremeEigenvaluesOfATridiagonalMatrix) {
  const int n = 12;
  std::vector<double> alpha, beta;
  double diagonal = 2; // of the LDL^T factors of tridiag(-1, 2, -1): 1 / alpha_k, beta_k = (1 / d_k)^2
  for (int k = 0; k < n; ++k) {
    alpha.push_back(1 / diagonal);
    beta.push_back(1 / (diagonal * diagonal));
    diagonal = 2 - 1 / diagonal;
  }
  const RitzValues got = ritz_values(alpha, beta);
  EXPECT_NEAR(got.least, 2 - 2 * std::cos(std::numbers::pi / (n + 1)), 1e-12);
  EXPECT_NEAR(got.greatest, 2 - 2 * std::cos(n * std::numbers::pi / (n + 1)), 1e-12);
}

} // namespace
} // namespace kumihimo::krylov
