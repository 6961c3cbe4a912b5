#include "conjugate_gradients.hpp"
#include "matrices.hpp"
#include "sparse/golden.hpp"
#include "sparse/prepared_system.hpp"
#include "sparse/transformed_cg.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kumihimo::sparse {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

std::vector<double> in_order_of(const PreparedSystem& s, const std::vector<double>& x) {
  std::vector<double> moved(x.size());
  s.to_system(x.data(), moved.data());
  return moved;
}
std::vector<double> back(const PreparedSystem& s, const std::vector<double>& x) {
  std::vector<double> moved(x.size());
  s.from_system(x.data(), moved.data());
  return moved;
}

std::vector<double> product_of(const PreparedSystem& s, const std::vector<double>& x) {
  std::vector<double> y(x.size(), 1e300);
  s.multiply(in_order_of(s, x).data(), y.data());
  return back(s, y);
}
std::vector<double> preconditioned(const PreparedSystem& s, const std::vector<double>& r) {
  // NaN before: padding must not read what the sweep has not written.
  std::vector<double> z(r.size(), std::numeric_limits<double>::quiet_NaN());
  s.precondition(in_order_of(s, r).data(), z.data());
  return back(s, z);
}

std::vector<PrepareOptions> choices(const SparseVariant& variant) {
  std::vector<PrepareOptions> all;
  for (const std::int64_t m : {0, 1, 5, 1000}) all.push_back({.parameters = {{"colours", m}}});
  if (variant.layout == RowLayout::sell)
    for (const auto& [c, sigma] : std::vector<std::pair<int, int>>{{1, 1}, {3, 2}, {8, 1}, {16, 64}, {256, 1000}})
      all.push_back({.parameters = {{"chunk", c}, {"sigma", sigma}}});
  if (variant.layout == RowLayout::streams)
    for (const int s : {1, 2, 3, 8, 16}) all.push_back({.parameters = {{"streams", s}}});
  return all;
}

// One system for each variant, matrix, choice of parameters and instruction set.
template <class Check>
void for_all_systems(Check check) {
  const std::vector<Named> all = matrices();
  for (const Named& named : all)
    for (const SparseVariant& variant : variants())
      for (PrepareOptions options : choices(variant))
        for (const InstructionSet* const set : instruction_sets()) {
          options.instructions = set;
          const Result<PreparedSystem> made = prepare(named.matrix, variant, options);
          std::string text = named.name + ", " + std::string(variant.description.name) + ", " + std::string(set->name);
          for (const auto& [name, value] : options.parameters) text += ", " + name + " " + std::to_string(value);
          SCOPED_TRACE(text);
          ASSERT_TRUE(made) << made.error().sentence();
          check(named.matrix, *made);
        }
}

TEST(PreparedSystem, ProductsEqualTheGoldenCopyToRounding) {
  ASSERT_TRUE(threads::use(2));
  for_all_systems([](const CrsMatrix& a, const PreparedSystem& s) {
    const std::vector<double> x = random_vector(a.rows, 1), y = product_of(s, x);
    for (std::int32_t i = 0; i < a.rows; ++i) {
      double exact = 0, size = 0;
      for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k) {
        exact += a.value[k] * x[a.column[k]];
        size += std::abs(a.value[k] * x[a.column[k]]);
      }
      // Each sum of n products errs by n eps / 2 of the sum of their sizes at most, in any order.
      ASSERT_LE(std::abs(y[i] - exact), static_cast<double>(a.begin[i + 1] - a.begin[i] + 1) * eps * size)
          << "row " << i;
    }
  });
}

// Bounds |z - exact| of the sweeps in each row (N. J. Higham, "Accuracy and Stability of Numerical Algorithms", 2002,
// 3.3: running error analysis). A sum of n products, r and the division err by (n + 3) eps of the sum of their sizes at
// most, which is twice the first-order bound; the off-diagonals by `unit` of theirs, where they are stored in fewer
// bits; and the errors of earlier rows come in with the size of the off-diagonals.
std::vector<double> error_of_sweeps(const CrsMatrix& a, const golden::GoldenFactor& f, const std::vector<double>& r,
                                    const std::vector<double>& z, double unit) {
  const std::size_t n = r.size();
  std::vector<double> y(n), error(n), size(n, 0), inherited(n, 0), count(n, 3);
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double sum = r[i], sizes = 0, earlier = 0;
    std::int64_t k = a.begin[i];
    for (; a.column[k] < i; ++k) {
      sum -= f.lower[k] * y[a.column[k]];
      sizes += std::abs(f.lower[k] * y[a.column[k]]);
      earlier += std::abs(f.lower[k]) * error[a.column[k]];
    }
    y[i] = sum / f.pivot[i];
    const double rounding = static_cast<double>(k - a.begin[i] + 3) * eps * (std::abs(r[i]) + sizes);
    error[i] = (rounding + unit * sizes + earlier) / f.pivot[i];
  }
  for (std::int32_t i = a.rows - 1; i >= 0; --i) {
    const double rounding = count[i] * eps * (std::abs(y[i]) * f.pivot[i] + size[i]);
    error[i] += (rounding + unit * size[i] + inherited[i]) / f.pivot[i];
    for (std::int64_t k = a.begin[i]; a.column[k] < i; ++k) {
      const std::int32_t j = a.column[k];
      size[j] += std::abs(f.lower[k] * z[i]);
      inherited[j] += std::abs(f.lower[k]) * error[i];
      ++count[j];
    }
  }
  return error;
}

// The golden factor in the order of elimination.
TEST(PreparedSystem, PreconditionersEqualTheGoldenCopy) {
  ASSERT_TRUE(threads::use(3));
  // Systems of one order of elimination follow each other: they share the golden factor.
  std::vector<std::int32_t> old_before;
  Copies copies_before = Copies::two;
  const CrsMatrix* last = nullptr;
  CrsMatrix sorted;
  golden::GoldenFactor factor;
  for_all_systems([&](const CrsMatrix& a, const PreparedSystem& s) {
    const RowNumbering& numbering = s.numbering();
    std::vector<std::int32_t> old(numbering.rank.size());
    for (std::size_t i = 0; i < old.size(); ++i) old[numbering.rank[i]] = numbering.old_of_new[i];
    if (old != old_before || s.variant().copies != copies_before || last != &a) {
      sorted = permuted(a, old);
      factor = *golden::factorise(sorted, s.variant().copies == Copies::two);
      old_before = old;
      copies_before = s.variant().copies;
      last = &a;
    }
    const std::vector<double> r = random_vector(a.rows, 2), z = preconditioned(s, r);
    std::vector<double> moved(r.size()), expected(r.size());
    for (std::size_t i = 0; i < old.size(); ++i) moved[i] = r[old[i]];
    golden::precondition(sorted, factor, moved, expected);
    // Both err by the bound at most; float rounds the off-diagonals by 2^-24.
    const double unit = s.variant().factor_type == FactorType::float32 ? std::ldexp(1, -24) : 0;
    const std::vector<double> error = error_of_sweeps(sorted, factor, moved, expected, unit);
    for (std::size_t i = 0; i < old.size(); ++i)
      ASSERT_LE(std::abs(z[old[i]] - expected[i]), 2 * error[i]) << "row " << old[i];
  });
}

TEST(PreparedSystem, BitsDoNotDependOnThreadsOrInstructions) {
  const CrsMatrix a = random_matrix(1200, 3600, 20);
  const std::vector<double> x = random_vector(a.rows, 3);
  for (const SparseVariant& variant : variants()) {
    std::vector<double> y, z;
    for (const int team : {1, 2, 5}) {
      ASSERT_TRUE(threads::use(team));
      for (const InstructionSet* const set : instruction_sets()) {
        const PreparedSystem s = *prepare(a, variant, {.instructions = set});
        if (y.empty()) y = product_of(s, x), z = preconditioned(s, x);
        EXPECT_EQ(y, product_of(s, x)) << variant.description.name;
        EXPECT_EQ(z, preconditioned(s, x)) << variant.description.name;
      }
    }
  }
}

TEST(PreparedSystem, KeptStepsDoNotChangeBits) {
  const CrsMatrix a = random_matrix(1200, 3600, 21);
  const std::vector<double> x = random_vector(a.rows, 4);
  Factorisations kept;
  bool is_first = true;
  for (const std::int64_t colours : {5, 9, 5})
    for (const SparseVariant& variant : variants()) {
      const ParameterValues parameters = {{"colours", colours}};
      const PreparedSystem alone = *prepare(a, variant, {.parameters = parameters});
      const PreparedSystem s = *prepare(a, variant, {.parameters = parameters, .factorisations = &kept});
      EXPECT_EQ(product_of(s, x), product_of(alone, x)) << variant.description.name;
      EXPECT_EQ(preconditioned(s, x), preconditioned(alone, x)) << variant.description.name;
      EXPECT_EQ(alone.kept_seconds(), 0);
      EXPECT_EQ(s.kept_seconds() > 0, !is_first) << variant.description.name;
      EXPECT_GE(s.set_up_seconds(), s.kept_seconds());
      is_first = false;
    }
}

TEST(Factorisations, AreKeptByTheirChoice) {
  const CrsMatrix a = random_matrix(300, 900, 22);
  Factorisations kept;
  FactorChoice five, nine;
  five.colours = 5, nine.colours = 9;
  const auto first = *kept.of(a, five), again = *kept.of(a, five), other = *kept.of(a, nine);
  EXPECT_EQ(first, again);
  EXPECT_NE(first, other);
  EXPECT_EQ(*kept.of(a, nine), other);
}

TEST(PreparedSystem, IterationsDoNotDependOnThreads) {
  const CrsMatrix a = poisson(16, 14, 12);
  for (const SparseVariant& variant : variants()) {
    int iterations = -1;
    std::vector<double> first;
    for (const int team : {1, 2, 5})
      for (const InstructionSet* const set : instruction_sets()) {
        ASSERT_TRUE(threads::use(team));
        const PreparedSystem s = *prepare(a, variant, {.parameters = {{"colours", 10}}, .instructions = set});
        std::vector<double> b(static_cast<std::size_t>(a.rows), 1), x(b.size(), 0);
        const int count = s.is_transformed() ? solve_transformed(s, b.data(), x.data(), 1e-8, 500)->iterations
                                             : conjugate_gradients(s, b.data(), x.data(), 1e-8, 500).iterations;
        if (iterations < 0) iterations = count, first = x;
        EXPECT_EQ(count, iterations) << variant.description.name << ", " << set->name;
        EXPECT_EQ(x, first) << variant.description.name << ", " << set->name;
      }
    EXPECT_GT(iterations, 10);
    EXPECT_LT(iterations, 100);
  }
}

// 13,824 rows a colour make 192 parts in groups of 24. All variants of a kind take the same steps, so their solutions
// differ by rounding only.
TEST(PreparedSystem, LargeColoursHaveManyPartsInGroups) {
  const CrsMatrix a = poisson(48, 24, 24);
  ASSERT_TRUE(threads::use(3));
  std::vector<double> first;
  for (const SparseVariant& variant : variants()) {
    const PreparedSystem s = *prepare(a, variant, {.parameters = {{"colours", 2}}});
    ASSERT_EQ(s.numbering().parts, 192) << s.colours();
    std::vector<double> b(static_cast<std::size_t>(a.rows), 1), x(b.size(), 0);
    if (s.is_transformed())
      ASSERT_TRUE(solve_transformed(s, b.data(), x.data(), 1e-10, 500)->converged);
    else
      ASSERT_LE(conjugate_gradients(s, b.data(), x.data(), 1e-10, 500).relative_residual, 1e-10);
    x = back(s, x);
    if (first.empty()) first = x;
    const double largest = *std::max_element(first.begin(), first.end());
    for (std::size_t i = 0; i < x.size(); ++i)
      ASSERT_NEAR(x[i], first[i], 1e-6 * largest) << variant.description.name << ", row " << i;
  }
  ASSERT_TRUE(threads::use(1));
}

// Of 20,000 rows one has 3,000 entries: its block is as wide, and no other block.
TEST(PreparedSystem, OneLongRowWidensItsBlockOnly) {
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  for (std::int32_t i = 1; i < 20000; ++i) edges.emplace_back(i, i - 1);
  for (std::int32_t i = 2; i <= 6000; i += 2) edges.emplace_back(i, 0);
  const CrsMatrix a = dominant(20000, edges, 5);
  const auto padding = [&](const char* name) {
    return (*prepare(a, **find_variant(name), {.parameters = {{"colours", 4}}})).bytes_of_padding();
  };
  const std::int64_t row_wise = padding("BR-1");
  EXPECT_GT(row_wise, 1 << 20);
  for (const char* const name : {"AC-2", "BC-2"})
    EXPECT_LT(padding(name), 3 * row_wise) << name; // a run may be half padding
}

// More threads than parts: the parts, and so the blocks of dot products, stay the same.
TEST(PreparedSystem, IterationsDoNotDependOnThreadsBeyondTheParts) {
  const CrsMatrix a = poisson(10, 9, 8);
  for (const char* const name : {"BC-2", "eisenstat", "eisenstat-coalesced"}) {
    std::vector<double> first;
    for (const int team : {1, 49, 97}) {
      ASSERT_TRUE(threads::use(team));
      const PreparedSystem s = *prepare(a, **find_variant(name), {.parameters = {{"colours", 4}}});
      EXPECT_EQ(s.numbering().parts, 48);
      std::vector<double> b = in_order_of(s, random_vector(a.rows, 8)), x(b.size(), 0);
      if (s.is_transformed())
        ASSERT_TRUE(solve_transformed(s, b.data(), x.data(), 1e-8, 500)->converged);
      else
        s.precondition(b.data(), x.data());
      x = back(s, x);
      if (first.empty()) first = x;
      EXPECT_EQ(x, first) << name << ", " << team << " threads";
    }
  }
  ASSERT_TRUE(threads::use(1));
}

// A bound of |A^-1| in the maximum norm: |A^-1| <= C^-1 by entries, where C, the comparison matrix, has the sizes of
// A's entries, negative off the diagonal (A. M. Ostrowski, 1937); C^-1 has no negative entries, so its norm is that of
// C^-1 times ones.
double inverse_norm(CrsMatrix a) {
  for (std::int32_t i = 0; i < a.rows; ++i)
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k)
      if (a.column[k] != i) a.value[k] = -std::abs(a.value[k]);
  const std::vector<double> ones(static_cast<std::size_t>(a.rows), 1);
  std::vector<double> x(ones.size());
  EXPECT_TRUE(golden::solve(a, ones, x, 1e-12, 3000)->converged);
  return *std::max_element(x.begin(), x.end());
}

// |x - x*| <= |A^-1| |b - A x|, and each of the two solutions leaves a residual of 1e-10 |b|, to which the rounding of
// the recurrence adds less than a tenth.
TEST(PreparedSystem, SolutionsEqualTheGoldenCopy) {
  ASSERT_TRUE(threads::use(2));
  for (const Named& named : matrices()) {
    const std::vector<double> b = random_vector(named.matrix.rows, 4);
    std::vector<double> expected(b.size());
    ASSERT_TRUE(golden::solve(named.matrix, b, expected, 1e-10, 3000)->converged);
    double squares = 0;
    for (const double v : b) squares += v * v;
    const double bound = inverse_norm(named.matrix) * 2 * 1.1e-10 * std::sqrt(squares);
    for (const SparseVariant& variant : variants()) {
      const PreparedSystem s = *prepare(named.matrix, variant);
      const std::vector<double> right = in_order_of(s, b);
      std::vector<double> x(b.size(), 0);
      if (s.is_transformed()) {
        const Result<TransformedSolution> solved = solve_transformed(s, right.data(), x.data(), 1e-10, 3000);
        ASSERT_TRUE(solved && solved->converged) << named.name << " " << variant.description.name;
      } else
        EXPECT_LT(conjugate_gradients(s, right.data(), x.data(), 1e-10, 3000).iterations, 3000);
      x = back(s, x);
      for (std::size_t i = 0; i < b.size(); ++i)
        ASSERT_NEAR(x[i], expected[i], bound) << named.name << " " << variant.description.name;
    }
  }
}

TEST(TransformedCg, TakesTheIterationsOfPreconditionedCg) {
  ASSERT_TRUE(threads::use(2));
  const CrsMatrix a = poisson(20, 20, 20);
  const PreparedSystem s = *prepare(a, **find_variant("eisenstat"));
  std::vector<double> b(static_cast<std::size_t>(a.rows), 1), x(b.size(), 0), y(b.size(), 0), q(b.size());
  const TransformedSolution solved = *solve_transformed(s, b.data(), x.data(), 1e-8, 500);
  EXPECT_TRUE(solved.converged);
  EXPECT_LE(solved.relative_residual, 1e-8);
  const int plain = conjugate_gradients(s, b.data(), y.data(), 1e-8, 500).iterations;
  EXPECT_NEAR(solved.iterations, plain, 2);
  s.multiply(x.data(), q.data());
  double rr = 0;
  for (std::size_t i = 0; i < b.size(); ++i) rr += (b[i] - q[i]) * (b[i] - q[i]);
  EXPECT_NEAR(std::sqrt(rr / static_cast<double>(b.size())), solved.relative_residual, 1e-10);
}

TEST(TransformedCg, StartsFromAnyXAndStopsAtOnceOnTheSolution) {
  const CrsMatrix a = poisson(9, 8, 7);
  const PreparedSystem s = *prepare(a, **find_variant("eisenstat"));
  std::vector<double> b = random_vector(a.rows, 5), x = random_vector(a.rows, 6), zero(b.size(), 0);
  ASSERT_TRUE(solve_transformed(s, b.data(), x.data(), 1e-12, 500)->converged);
  EXPECT_EQ(solve_transformed(s, b.data(), x.data(), 1e-10, 500)->iterations, 0);
  std::vector<double> y(b.size(), 0);
  EXPECT_EQ(solve_transformed(s, zero.data(), y.data(), 1e-10, 500)->iterations, 0);
  EXPECT_EQ(y, zero);
  b[3] = std::numeric_limits<double>::infinity();
  EXPECT_FALSE(solve_transformed(s, b.data(), y.data(), 1e-10, 500));
}

// No face has u = 0: constants are in the null space.
CrsMatrix neumann(std::int32_t nx, std::int32_t ny, std::int32_t nz) {
  CrsMatrix a = poisson(nx, ny, nz);
  for (std::int32_t i = 0; i < a.rows; ++i) {
    double others = 0;
    std::int64_t own = 0;
    for (std::int64_t k = a.begin[i]; k < a.begin[i + 1]; ++k)
      if (a.column[k] == i)
        own = k;
      else
        others += a.value[k];
    a.value[own] = -others;
  }
  return a;
}

// A chain has no fill, so its last pivot is rounding; a box has, so conjugate gradients must notice.
TEST(Singular, AChainIsRefusedByEveryVariant) {
  const CrsMatrix a = neumann(30, 1, 1);
  constexpr const char* sentence = "the matrix is singular or nearly so: the pivot of row ";
  EXPECT_EQ(golden::factorise(a).error().sentence().find(sentence), 0u);
  for (const SparseVariant& variant : variants()) {
    const Result<PreparedSystem> made = prepare(a, variant);
    ASSERT_FALSE(made) << variant.description.name;
    EXPECT_EQ(made.error().sentence().find(sentence), 0u) << made.error().sentence();
  }
}

TEST(Singular, ABoxIsSolvedOrRefusedAsItsRightSideAllows) {
  const CrsMatrix a = neumann(9, 8, 7);
  constexpr const char* sentence = "the matrix is singular or nearly so: a search direction p has p.Ap = ";
  const std::vector<double> solution = random_vector(a.rows, 9);
  std::vector<double> consistent(solution.size()), x(solution.size(), 0), product(solution.size());
  golden::multiply(a, solution, consistent);
  std::vector<double> inconsistent = random_vector(a.rows, 10);
  inconsistent[0] += 10;
  EXPECT_TRUE(golden::solve(a, consistent, x, 1e-8, 1000)->converged);
  std::fill(x.begin(), x.end(), 0.0);
  const Result<golden::GoldenSolved> refused = golden::solve(a, inconsistent, x, 1e-8, 1000);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().sentence().find(sentence), 0u) << refused.error().sentence();
  for (const SparseVariant& variant : variants()) {
    SCOPED_TRACE(variant.description.name);
    const PreparedSystem s = *prepare(a, variant);
    if (!s.is_transformed()) continue;
    std::fill(x.begin(), x.end(), 0.0);
    const std::vector<double> b = in_order_of(s, consistent), wrong = in_order_of(s, inconsistent);
    ASSERT_TRUE(solve_transformed(s, b.data(), x.data(), 1e-8, 1000)->converged);
    golden::multiply(a, back(s, x), product);
    double squares = 0, of_b = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      squares += (product[i] - consistent[i]) * (product[i] - consistent[i]);
      of_b += consistent[i] * consistent[i];
    }
    EXPECT_LE(squares, 4e-16 * of_b);
    std::fill(x.begin(), x.end(), 0.0);
    const Result<TransformedSolution> failed = solve_transformed(s, wrong.data(), x.data(), 1e-8, 1000);
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.error().sentence().find(sentence), 0u) << failed.error().sentence();
  }
}

TEST(Singular, ATinyToleranceStagnatesOnAPositiveDefiniteMatrix) {
  const CrsMatrix a = poisson(9, 8, 7);
  const std::vector<double> b = random_vector(a.rows, 11);
  std::vector<double> x(b.size(), 0);
  const auto stagnates = [](const std::string& sentence) {
    EXPECT_EQ(sentence.find("the residual stagnates at "), 0u) << sentence;
    EXPECT_NE(sentence.find(", above the tolerance 1e-200; raise the tolerance"), std::string::npos) << sentence;
  };
  const Result<golden::GoldenSolved> plain = golden::solve(a, b, x, 1e-200, 5000);
  ASSERT_FALSE(plain);
  stagnates(plain.error().sentence());
  int transformed = 0;
  for (const SparseVariant& variant : variants()) {
    const PreparedSystem s = *prepare(a, variant);
    if (!s.is_transformed()) continue;
    std::fill(x.begin(), x.end(), 0.0);
    const Result<TransformedSolution> made = solve_transformed(s, in_order_of(s, b).data(), x.data(), 1e-200, 5000);
    ASSERT_FALSE(made) << variant.description.name;
    stagnates(made.error().sentence());
    ++transformed;
  }
  EXPECT_EQ(transformed, 4);
}

// The minors of two rows are positive, IC(0) exists, and (1, -1, 1, -1) has a negative product.
TEST(Singular, AnIndefiniteMatrixIsNamed) {
  Places places;
  for (int i = 0; i < 4; ++i) {
    places[{i, i}] = 1;
    places[{i, (i + 1) % 4}] = places[{(i + 1) % 4, i}] = 0.55;
  }
  const CrsMatrix a = matrix_of(4, places);
  std::vector<double> x(4, 0), b{1, -1, 1, -1};
  EXPECT_EQ(golden::solve(a, b, x, 1e-8, 100).error().sentence().find("the matrix is not positive definite: "), 0u);
  const PreparedSystem s = *prepare(a, **find_variant("eisenstat"));
  const Result<TransformedSolution> made = solve_transformed(s, in_order_of(s, b).data(), x.data(), 1e-8, 100);
  EXPECT_EQ(made.error().sentence().find("the matrix is not positive definite: "), 0u);
}

TEST(TransformedCg, FindsZeroForAZeroRightSideFromAnyX) {
  const CrsMatrix a = poisson(9, 8, 7);
  const PreparedSystem s = *prepare(a, **find_variant("eisenstat"));
  const std::vector<double> zero(static_cast<std::size_t>(a.rows), 0);
  std::vector<double> x = random_vector(a.rows, 12), y = x;
  ASSERT_TRUE(solve_transformed(s, zero.data(), x.data(), 1e-8, 500)->converged);
  EXPECT_EQ(x, zero);
  ASSERT_TRUE(golden::solve(a, zero, y, 1e-8, 500)->converged);
  EXPECT_EQ(y, zero);
}

TEST(PreparedSystem, ReadsGhosts) {
  CrsMatrix a = matrix_of(2, {{{0, 0}, 2.0}, {{0, 1}, -1.0}, {{1, 0}, -1.0}, {{1, 1}, 2.0}, {{1, 3}, -5.0}});
  a.columns = 4;
  for (const SparseVariant& variant : variants()) {
    const PreparedSystem s = *prepare(a, variant);
    EXPECT_EQ(s.ghosts(), 2);
    EXPECT_FALSE(s.is_transformed());
    std::vector<double> x{0, 0, 7, 11}, y(2);
    const std::vector<double> own{1, 3};
    s.to_system(own.data(), x.data());
    s.multiply(x.data(), y.data());
    std::vector<double> moved(2);
    s.from_system(y.data(), moved.data());
    EXPECT_EQ(moved, (std::vector<double>{-1, -1 + 6 - 55}));
  }
}

TEST(PreparedSystem, BytesOfThePoissonMatrixAreThoseOfItsArrays) {
  const CrsMatrix a = poisson(4, 4, 4); // 64 rows, 288 off-diagonals
  const PreparedSystem crs = *prepare(a, **find_variant("AR-0"));
  EXPECT_EQ(crs.bytes_of_product(), 288 * 12 + 65 * 8 + 64 * 24);
  EXPECT_EQ(crs.bytes_of_preconditioner(), 288 * 12 + 2 * 65 * 8 + 64 * 24);
  EXPECT_EQ(crs.bytes_of_padding(), 0);
  for (const char* const name : {"AR-1", "AC-2", "BC-1", "BC-2", "sell-c-sigma"}) {
    const PreparedSystem padded = *prepare(a, **find_variant(name));
    const std::int64_t begins = name == std::string("sell-c-sigma") ? 8 : 0;
    EXPECT_GE(padded.bytes_of_product(), 288 * 12 + 64 * 24 + begins) << name;
    EXPECT_LE(padded.bytes_of_product(), 288 * 12 + 65 * begins + 64 * 24) << name;
    EXPECT_GT(padded.bytes_of_padding(), 0) << name;
  }
  EXPECT_EQ((*prepare(a, **find_variant("mixed"))).bytes_of_preconditioner(), 288 * 8 + 64 * 24);
  EXPECT_EQ((*prepare(a, **find_variant("one-copy"))).bytes_of_product(), 288 * 12 + 64 * 24);
  EXPECT_EQ((*prepare(a, **find_variant("eisenstat"))).bytes_of_transformed_iteration(), 288 * 12 + 64 * 48);
}

TEST(Variants, HoldThePublishedEightAndOurs) {
  for (const std::string_view published : {"AR-0", "AR-1", "AC-1", "AC-2", "BR-0", "BR-1", "BC-1", "BC-2"})
    EXPECT_TRUE(find_variant(published)) << published;
  for (const std::string_view ours : {"AR-2", "streamed", "sell-c-sigma", "mixed", "one-copy", "eisenstat"})
    EXPECT_TRUE(find_variant(ours)) << ours;
  EXPECT_EQ(find_variant("AR-9").error().sentence().find(
                "the variant must be one of those that are listed (got AR-9); use one of: AR-0, "),
            0u);
}

TEST(Prepare, RefusesAFactorThatDoesNotFitSinglePrecision) {
  const CrsMatrix a = matrix_of(2, {{{0, 0}, 4e39}, {{0, 1}, 1e39}, {{1, 0}, 1e39}, {{1, 1}, 4e39}});
  EXPECT_TRUE(prepare(a, **find_variant("BC-2")));
  const Result<PreparedSystem> mixed = prepare(a, **find_variant("mixed"));
  ASSERT_FALSE(mixed);
  EXPECT_EQ(mixed.error().sentence(), "the factor must fit single precision (got 1e+39); use a variant without a "
                                      "single-precision factor");
}

TEST(Prepare, RefusesWrongParametersMatricesAndColourings) {
  const CrsMatrix a = poisson(4, 3, 2);
  const SparseVariant& variant = **find_variant("AR-0");
  const auto error = [&](const CrsMatrix& matrix, const PrepareOptions& options) {
    return prepare(matrix, variant, options).error().sentence();
  };
  EXPECT_EQ(error(a, {.parameters = {{"chunk", 8}}}), "variant AR-0 takes no parameter of this name (got chunk)");
  EXPECT_NE(error(a, {.parameters = {{"colours", -1}}}).find("-1"), std::string::npos);
  Colouring one_colour;
  for (std::int32_t i = 0; i < 24; ++i) one_colour.row.push_back(i);
  one_colour.begin.push_back(24);
  EXPECT_NE(error(a, {.colouring = one_colour}).find("are neighbours, but share colour 0"), std::string::npos);
  CrsMatrix wrong = a;
  wrong.value[0] = -1;
  EXPECT_NE(error(wrong, {}).find("must be positive"), std::string::npos);
  EXPECT_FALSE(solve_transformed(*prepare(a, variant), nullptr, nullptr, 1e-8, 1));
}

} // namespace
} // namespace kumihimo::sparse
