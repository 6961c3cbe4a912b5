#include "matrices.hpp"
#include "sparse/golden.hpp"

#include <cmath>

namespace kumihimo::sparse {
namespace {

TEST(Poisson, HasOneRowPerCellAndTheFluxesOfItsFaces) {
  const CrsMatrix a = *poisson_matrix({3, 2, 2, 1, 2, 4}); // cx = 8, cy = 2, cz = 0.5
  EXPECT_EQ(a.rows, 12);
  EXPECT_EQ(entry(a, 0, 1), -8);
  EXPECT_EQ(entry(a, 0, 3), -2);
  EXPECT_EQ(entry(a, 0, 6), -0.5);
  EXPECT_EQ(entry(a, 0, 0), 10.5);
  EXPECT_EQ(entry(a, 6, 6), 8 + 2 + 0.5 + 1); // the Dirichlet face, half a cell away
  EXPECT_EQ(entry(a, 0, 11), 0);
}

TEST(Poisson, RowsSumToZeroButForTheDirichletFace) {
  const CrsMatrix a = poisson(5, 3, 4);
  std::vector<double> ones(60, 1), sum(60);
  golden::multiply(a, ones, sum);
  for (int i = 0; i < 60; ++i) EXPECT_NEAR(sum[i], i >= 45 ? 2 * 0.5 * 1 / 2.0 : 0, 1e-14);
}

TEST(Poisson, RefusesWrongGrids) {
  const auto error = [](const PoissonGrid& grid) { return poisson_matrix(grid).error().sentence(); };
  EXPECT_EQ(error({0, 1, 1}), "the number of cells in each direction must be 1 or more (got 0)");
  EXPECT_EQ(error({2000, 2000, 2000}),
            "a grid may have 2147483647 cells at most (got 2000x2000x2000); use a smaller grid");
  EXPECT_EQ(error({65536, 65536, 65536}).substr(0, 14), "a grid may hav");
  EXPECT_EQ(error({1, 1, 1, 0.0}), "the edges of a cell must be positive and finite (got 0)");
}

// Largest error at the centres.
double error_on(int n) {
  const double h = 1.0 / n;
  const PoissonGrid grid{n, n, n, h, h, h};
  const CrsMatrix a = *poisson_matrix(grid);
  const std::vector<double> b = manufactured_right_side(grid);
  std::vector<double> x(b.size());
  EXPECT_TRUE(golden::solve(a, b, x, 1e-12, 1000)->converged);
  double worst = 0;
  for (std::int64_t row = 0; row < grid.cells(); ++row)
    worst = std::max(worst, std::abs(x[row] - manufactured_solution(grid.centre(row))));
  return worst;
}

TEST(Poisson, ConvergesToTheManufacturedSolutionAtSecondOrder) {
  const double coarse = error_on(8), middle = error_on(16), fine = error_on(32);
  EXPECT_NEAR(std::log2(coarse / middle), 2, 0.1);
  EXPECT_NEAR(std::log2(middle / fine), 2, 0.05);
}

} // namespace
} // namespace kumihimo::sparse
