#include "cases.hpp"
#include "fem/load.hpp"
#include "fem/preconditioners.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>

namespace kumihimo::fem {
namespace {

constexpr double u = 0x1p-53;

// A sum of at most 81 products: gamma_81 times the sum of their magnitudes.
TEST(Product, IsTheGoldenCopysWithinTheBoundOfItsSums) {
  for (const std::int64_t n : {2, 3, 6, 9}) {
    const Case given = assembled_cube(n);
    const std::vector<double> x = random_vector(3 * given.mesh.node_count(), 1);
    std::vector<double> y(x.size()), golden(x.size()), magnitude(x.size());
    BlockMatrix sizes = make_matrix(given.mesh).value();
    for (std::int64_t i = 0; i < sizes.values.size(); ++i) sizes.values[i] = std::abs(given.matrix.values[i]);
    std::vector<double> positive = x;
    for (double& value : positive) value = std::abs(value);
    multiply_golden(given.matrix, x.data(), golden.data());
    multiply_golden(sizes, positive.data(), magnitude.data());
    for (const int team : {1, 2, 3, 5}) {
      ASSERT_TRUE(threads::use(team).ok());
      multiply(given.matrix, x.data(), y.data());
      for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], golden[i], 2 * 82 * u * magnitude[i]);
    }
  }
  ASSERT_TRUE(threads::use(1).ok());
}

// Both have the error of the assembly and of 81 products: 1e-12 of the largest number is far above it (about 1e-14).
TEST(Product, WithoutAMatrixIsTheMatrixs) {
  for (const std::int64_t n : {2, 3, 5, 8})
    for (const bool constrained : {false, true}) {
      Case given = assembled_cube(n, 0.25, 2);
      std::vector<double> load(static_cast<std::size_t>(3 * given.mesh.owned));
      const Constraints constraints = constrained ? fixed_face(given.mesh) : no_constraints(given.mesh);
      ASSERT_TRUE(eliminate(constraints, given.matrix, load).ok());
      const std::vector<double> blocks = diagonal_blocks(given.mesh, given.materials);
      std::vector<double> diagonal;
      for (std::size_t i = 0; i < load.size(); ++i) diagonal.push_back(blocks[i / 3 * 9 + 4 * (i % 3)]);
      const std::vector<double> x = random_vector(3 * given.mesh.node_count(), 3);
      std::vector<double> expected(load.size()), first(load.size()), y(load.size());
      multiply_golden(given.matrix, x.data(), expected.data());
      double most = 0;
      for (const double value : expected) most = std::max(most, std::abs(value));
      for (const OperatorVariant& variant : operator_variants()) {
        if (!variant.runs_here) continue;
        auto product = MatrixFreeProduct::make(variant, given.mesh, given.materials, constraints, diagonal);
        ASSERT_TRUE(product.ok());
        for (const int team : {1, 2, 3, 5}) {
          ASSERT_TRUE(threads::use(team).ok());
          std::vector<double>& to = team == 1 ? first : y;
          std::fill(to.begin(), to.end(), 17); // must not be added to
          ASSERT_TRUE(product->multiply(x.data(), to.data()).ok());
          for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(to[i], expected[i], 1e-12 * most) << variant.name;
          if (team > 1) {
            EXPECT_EQ(first, y) << variant.name;
          }
        }
      }
    }
  ASSERT_TRUE(threads::use(1).ok());
  EXPECT_EQ(find_operator("none"), nullptr);
}

TEST(Product, WithoutAMatrixHasTheCompleteRowsOfABox) {
  const Case given = case_on(box_of_cube({3, 4, 2}, {2, 2, 3}, {1, 0, 1}).value());
  BlockMatrix matrix = make_matrix(given.mesh).value();
  ASSERT_TRUE(assemble(assembly_variants()[0], given.mesh, given.materials, matrix).ok());
  const Constraints constraints = no_constraints(given.mesh);
  const std::vector<double> x = random_vector(3 * given.mesh.node_count(), 5);
  std::vector<double> expected(static_cast<std::size_t>(3 * given.mesh.owned)), y(expected.size());
  multiply_golden(matrix, x.data(), expected.data());
  auto product = MatrixFreeProduct::make(fastest_operator(), given.mesh, given.materials, constraints,
                                         std::vector<double>(expected.size()));
  ASSERT_TRUE(product.ok());
  ASSERT_TRUE(product->multiply(x.data(), y.data()).ok());
  for (std::size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-12);
  EXPECT_FALSE(MatrixFreeProduct::make(fastest_operator(), given.mesh, given.materials, constraints, {}).ok());
}

TEST(Product, DiagonalBlocksAreTheMatrixs) {
  const Case given = assembled_cube(5);
  const std::vector<double> by_mesh = diagonal_blocks(given.mesh, given.materials),
                            by_matrix = diagonal_blocks(given.matrix);
  ASSERT_EQ(by_mesh.size(), by_matrix.size());
  for (std::size_t i = 0; i < by_mesh.size(); ++i) EXPECT_NEAR(by_mesh[i], by_matrix[i], 1e-13);
}

struct Loaded {
  Case given;
  std::vector<double> load;
};
Loaded pulled_cube(std::int64_t n) {
  Loaded made{assembled_cube(n, 0.2, 1), {}};
  made.load.resize(static_cast<std::size_t>(3 * made.given.mesh.owned));
  add_traction(made.given.mesh, {0.1, 0.02, 0}, made.load);
  EXPECT_TRUE(eliminate(fixed_face(made.given.mesh), made.given.matrix, made.load).ok());
  return made;
}

TEST(NodeOrder, HasEveryNodeOnceAndColoursWithoutNeighbours) {
  const Case given = cube(6);
  std::vector<std::int32_t> all(216);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::int32_t> rcm = reverse_cuthill_mckee(given.matrix, all);
  const NodeOrder order = coloured(given.matrix, rcm);
  std::vector<std::int32_t> sorted = order.nodes;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, all);
  EXPECT_GE(order.colour_begin.size() - 1, 8u);
  for (std::size_t c = 0; c + 1 < order.colour_begin.size(); ++c)
    for (std::int64_t i = order.colour_begin[c]; i < order.colour_begin[c + 1]; ++i)
      for (std::int64_t j = order.colour_begin[c]; j < i; ++j)
        EXPECT_LT(given.matrix.find(order.nodes[static_cast<std::size_t>(i)], order.nodes[static_cast<std::size_t>(j)]),
                  0);
}

// Of a long bar of nodes, numbered at random, the order has a bandwidth as small as its cross-section allows.
TEST(NodeOrder, ReverseCuthillMcKeeMakesTheBandNarrow) {
  const Case given = case_on(box_of_cube({20, 2, 2}, {1, 1, 1}, {0, 0, 0}).value());
  std::vector<std::int32_t> all(80), position(80);
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::int32_t> rcm = reverse_cuthill_mckee(given.matrix, all);
  for (std::size_t i = 0; i < rcm.size(); ++i)
    position[static_cast<std::size_t>(rcm[i])] = static_cast<std::int32_t>(i);
  for (std::int32_t n = 0; n < 80; ++n)
    for (std::int32_t at = given.matrix.row_begin[n]; at < given.matrix.row_begin[n + 1]; ++at)
      EXPECT_LT(std::abs(position[static_cast<std::size_t>(n)] -
                         position[static_cast<std::size_t>(given.matrix.columns[at])]),
                8);
}

// (D + U)^-1 D (D + L)^-1 r by its definition: M z = (D + L) D^-1 (D + U) z must be r.
TEST(Sweeps, SolveTheirFactors) {
  const Loaded loaded = pulled_cube(5);
  const BlockMatrix& matrix = loaded.given.matrix;
  std::vector<std::int32_t> all(static_cast<std::size_t>(matrix.owned));
  std::iota(all.begin(), all.end(), 0);
  const std::vector<std::int32_t> order = reverse_cuthill_mckee(matrix, all);
  std::vector<std::int32_t> position(all.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    position[static_cast<std::size_t>(order[i])] = static_cast<std::int32_t>(i);
  const Sweeps sweeps = Sweeps::make(matrix, order).value();
  const std::vector<double> r = random_vector(3 * matrix.owned, 9);
  std::vector<double> work(r.size()), z(r.size());
  sweeps.forward(0, sweeps.size(), r.data(), work.data());
  sweeps.backward(0, sweeps.size(), work.data());
  for (std::size_t i = 0; i < order.size(); ++i) std::copy_n(work.data() + 3 * i, 3, z.data() + 3 * order[i]);
  // which: -1 lower, 0 diagonal, 1 upper
  const auto add = [&](int which, const std::vector<double>& x, std::vector<double>& y, bool inverted = false) {
    for (std::int32_t n = 0; n < matrix.owned; ++n)
      for (std::int32_t at = matrix.row_begin[n]; at < matrix.row_begin[n + 1]; ++at) {
        const std::int32_t m = matrix.columns[at];
        const int side = position[static_cast<std::size_t>(m)] - position[static_cast<std::size_t>(n)];
        if ((side > 0) - (side < 0) != which) continue;
        double block[9];
        if (inverted)
          ASSERT_TRUE(invert_block(matrix.block(at), block));
        else
          std::copy_n(matrix.block(at), 9, block);
        for (int a = 0; a < 3; ++a)
          for (int c = 0; c < 3; ++c)
            y[static_cast<std::size_t>(3 * n + a)] += block[3 * a + c] * x[static_cast<std::size_t>(3 * m + c)];
      }
  };
  std::vector<double> upper(r.size()), scaled(r.size()), product(r.size());
  add(0, z, upper);
  add(1, z, upper);
  add(0, upper, scaled, true);
  add(0, scaled, product);
  add(-1, scaled, product);
  for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(product[i], r[i], 1e-12);
}

using MakeApply = std::function<Apply(const BlockMatrix&)>;
struct Named {
  const char* name;
  MakeApply make;
};
const Named preconditioners[] = {
    {"block diagonal",
     [](const BlockMatrix& matrix) -> Apply {
       auto made = std::make_shared<BlockDiagonal>(BlockDiagonal::make(diagonal_blocks(matrix)).value());
       return [made](const double* r, double* z) { made->apply(r, z); };
     }},
    {"Gauss-Seidel",
     [](const BlockMatrix& matrix) -> Apply {
       auto made = std::make_shared<GaussSeidel>(GaussSeidel::make(matrix).value());
       return [made](const double* r, double* z) { made->apply(r, z); };
     }},
    {"Schwarz 5 parts",
     [](const BlockMatrix& matrix) -> Apply {
       auto made = std::make_shared<AdditiveSchwarz>(AdditiveSchwarz::make(matrix, 5, 0).value());
       return [made](const double* r, double* z) { made->apply(r, z); };
     }},
    {"Schwarz 5 parts, overlap 1",
     [](const BlockMatrix& matrix) -> Apply {
       auto made = std::make_shared<AdditiveSchwarz>(AdditiveSchwarz::make(matrix, 5, 1).value());
       return [made](const double* r, double* z) { made->apply(r, z); };
     }},
};

TEST(Preconditioners, AreSymmetricPositiveDefiniteAndTheSameOnAnyNumberOfThreads) {
  const Loaded loaded = pulled_cube(6);
  const std::int64_t size = 3 * loaded.given.mesh.owned;
  const std::vector<double> r = random_vector(size, 1), s = random_vector(size, 2);
  for (const Named& named : preconditioners) {
    const Apply apply = named.make(loaded.given.matrix);
    std::vector<double> mr(r.size()), ms(r.size()), again(r.size());
    ASSERT_TRUE(threads::use(1).ok());
    apply(r.data(), mr.data());
    apply(s.data(), ms.data());
    EXPECT_NEAR(dot(s, mr), dot(r, ms), 1e-12 * std::abs(dot(r, mr))) << named.name;
    EXPECT_GT(dot(r, mr), 0) << named.name;
    for (const int team : {2, 3, 5}) {
      ASSERT_TRUE(threads::use(team).ok());
      apply(r.data(), again.data());
      EXPECT_EQ(std::memcmp(mr.data(), again.data(), sizeof(double) * mr.size()), 0) << named.name << team;
    }
  }
  ASSERT_TRUE(threads::use(1).ok());
}

TEST(Preconditioners, LeadToOneSolutionInFewerIterationsTheMoreTheyCouple) {
  const Loaded loaded = pulled_cube(10);
  const Solved plain = solve(loaded.given, loaded.load);
  ASSERT_LE(plain.residual, 1e-12);
  std::map<std::string, int> iterations;
  for (const Named& named : preconditioners) {
    const Solved solved = conjugate_gradients([&](const double* x, double* y) { multiply(loaded.given.matrix, x, y); },
                                              named.make(loaded.given.matrix), loaded.load);
    EXPECT_LE(solved.residual, 1e-12) << named.name;
    EXPECT_TRUE(solved.positive) << named.name;
    for (std::size_t i = 0; i < plain.x.size(); ++i) ASSERT_NEAR(solved.x[i], plain.x[i], 1e-9) << named.name;
    iterations[named.name] = solved.iterations;
  }
  EXPECT_LT(iterations["block diagonal"], plain.iterations);
  EXPECT_LT(iterations["Gauss-Seidel"], iterations["block diagonal"]);
  EXPECT_LT(iterations["Schwarz 5 parts"], iterations["block diagonal"]);
}

TEST(Preconditioners, OnePartIsGaussSeidelInTheOrderOfTheWhole) {
  const Loaded loaded = pulled_cube(5);
  const BlockMatrix& matrix = loaded.given.matrix;
  std::vector<std::int32_t> all(static_cast<std::size_t>(matrix.owned));
  std::iota(all.begin(), all.end(), 0);
  const Sweeps sweeps = Sweeps::make(matrix, reverse_cuthill_mckee(matrix, all)).value();
  const std::vector<double> r = random_vector(3 * matrix.owned, 11);
  std::vector<double> work(r.size()), z(r.size());
  sweeps.forward(0, sweeps.size(), r.data(), work.data());
  sweeps.backward(0, sweeps.size(), work.data());
  for (const int overlap : {0, 1}) {
    AdditiveSchwarz schwarz = AdditiveSchwarz::make(matrix, 1, overlap).value();
    schwarz.apply(r.data(), z.data());
    for (std::size_t i = 0; i < all.size(); ++i)
      for (std::size_t a = 0; a < 3; ++a)
        EXPECT_EQ(z[static_cast<std::size_t>(3 * sweeps.nodes()[i]) + a], work[3 * i + a]);
  }
}

// Parts share one work array: what one part leaves in it, also with an error, would change the next.
TEST(Preconditioners, PartsLeaveTheirWorkArrayAsItWas) {
  const Loaded loaded = pulled_cube(5);
  const BlockMatrix& matrix = loaded.given.matrix;
  BlockMatrix indefinite = make_matrix(loaded.given.mesh).value();
  RowNumbers work(matrix);
  const auto expect_reset = [&] {
    for (std::int32_t n = 0; n < matrix.rows(); ++n) ASSERT_EQ(work[n], RowNumbers::outside) << n;
  };
  for (const std::vector<std::int32_t>& nodes : {std::vector<std::int32_t>{3, 4, 40}, {2, 3, 4, 5, 41}}) {
    const std::vector<std::int32_t> order = reverse_cuthill_mckee(matrix, nodes, work);
    expect_reset();
    EXPECT_EQ(order, reverse_cuthill_mckee(matrix, nodes));
    EXPECT_TRUE(Sweeps::make(matrix, order, work).ok());
    expect_reset();
    EXPECT_FALSE(Sweeps::make(indefinite, order, work).ok());
    expect_reset();
  }
}

TEST(Preconditioners, APartOfEachNodeIsTheBlockDiagonal) {
  const Loaded loaded = pulled_cube(6);
  const BlockMatrix& matrix = loaded.given.matrix;
  AdditiveSchwarz schwarz = AdditiveSchwarz::make(matrix, matrix.owned, 0).value();
  const BlockDiagonal diagonal = BlockDiagonal::make(diagonal_blocks(matrix)).value();
  const std::vector<double> r = random_vector(3 * matrix.owned, 13);
  std::vector<double> z(r.size()), expected(r.size());
  schwarz.apply(r.data(), z.data());
  diagonal.apply(r.data(), expected.data());
  for (std::size_t i = 0; i < r.size(); ++i) EXPECT_NEAR(z[i], expected[i], 1e-13 * (1 + std::abs(expected[i])));
}

TEST(Preconditioners, RefuseWhatIsNotPositiveDefinite) {
  Loaded loaded = pulled_cube(3);
  BlockMatrix& matrix = loaded.given.matrix;
  EXPECT_FALSE(AdditiveSchwarz::make(matrix, 0, 0).ok());
  EXPECT_FALSE(AdditiveSchwarz::make(matrix, 28, 0).ok());
  EXPECT_FALSE(AdditiveSchwarz::make(matrix, 2, 2).ok());
  matrix.block(matrix.find(13, 13))[4] = -1;
  for (const Error& error : {BlockDiagonal::make(diagonal_blocks(matrix)).error(), GaussSeidel::make(matrix).error(),
                             AdditiveSchwarz::make(matrix, 2, 1).error()})
    EXPECT_NE(error.sentence().find("node 13 must be positive definite"), std::string::npos) << error.sentence();
  matrix.block(matrix.find(13, 13))[4] = std::nan("");
  EXPECT_FALSE(BlockDiagonal::make(diagonal_blocks(matrix)).ok());
}

TEST(Constraints, RefuseWrongSizesAndNodesWithoutStiffness) {
  Case given = assembled_cube(3);
  std::vector<double> load(81), small(80);
  const Constraints constraints = fixed_face(given.mesh);
  EXPECT_FALSE(eliminate(constraints, given.matrix, small).ok());
  EXPECT_FALSE(eliminate(Constraints{}, given.matrix, load).ok());
  set_zero(given.matrix);
  const Status done = eliminate(constraints, given.matrix, load);
  ASSERT_FALSE(done.ok());
  EXPECT_NE(done.error().sentence().find("the diagonal of node 0 must be positive (got 0)"), std::string::npos);
}

TEST(Constraints, APrescribedDisplacementIsTaken) {
  Case given = assembled_cube(4);
  std::vector<double> load(static_cast<std::size_t>(3 * given.mesh.owned));
  const Constraints constraints = stretched_cube(given.mesh, {0.1, -0.2, 0.3});
  ASSERT_TRUE(eliminate(constraints, given.matrix, load).ok());
  const Solved solved = solve(given, load);
  for (std::size_t i = 0; i < load.size(); ++i)
    if (constraints.is_fixed[i]) {
      EXPECT_NEAR(solved.x[i], constraints.values[i], 1e-12);
    }
}

} // namespace
} // namespace kumihimo::fem
