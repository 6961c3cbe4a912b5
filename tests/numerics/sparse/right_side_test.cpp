// Of a right-hand side whose sum of squares underflows the solution is not 0.
#include "matrices.hpp"
#include "sparse/golden.hpp"
#include "sparse/transformed_cg.hpp"

namespace kumihimo::sparse {
namespace {

TEST(RightSide, WhoseSquaresUnderflowOrOverflowIsRefused) {
  const CrsMatrix a = poisson(4, 3, 5);
  const PreparedSystem s = *prepare(a, **find_variant("eisenstat"));
  const auto n = static_cast<std::size_t>(a.rows);
  for (const double value : {1e-170, 1e-150, 1e150, 1e170}) {
    std::vector<double> b(n, value), x(n, 0), y(n, 0);
    const Result<golden::GoldenSolved> plain = golden::solve(a, b, x, 1e-8, 100);
    const Result<TransformedSolution> transformed = solve_transformed(s, b.data(), y.data(), 1e-8, 100);
    ASSERT_FALSE(plain) << value;
    ASSERT_FALSE(transformed) << value;
    for (const Error& error : {plain.error(), transformed.error()})
      EXPECT_EQ(error.sentence().find("the norm of the right-hand side must be 1e-140 to 1e140 and finite (got "), 0u)
          << error.sentence();
  }
}

TEST(RightSide, TinyAndHugeOnesWithinTheRangeAreSolved) {
  const CrsMatrix a = poisson(4, 3, 5);
  const PreparedSystem s = *prepare(a, **find_variant("eisenstat"));
  const auto n = static_cast<std::size_t>(a.rows);
  for (const double value : {1e-135, 1e135}) {
    std::vector<double> b(n, value), x(n, 0), y(n, 0), product(n);
    ASSERT_TRUE(golden::solve(a, b, x, 1e-8, 100)->converged);
    ASSERT_TRUE(solve_transformed(s, b.data(), y.data(), 1e-8, 100)->converged);
    golden::multiply(a, x, product);
    for (const double each : product) EXPECT_NEAR(each / value, 1, 1e-7);
    s.multiply(y.data(), product.data());
    for (const double each : product) EXPECT_NEAR(each / value, 1, 1e-7);
  }
}

} // namespace
} // namespace kumihimo::sparse
