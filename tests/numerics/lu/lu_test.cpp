// Panels, row moves, test matrices, the residual and HPL.dat, each by its post-condition.
#include "blas/blas.hpp"
#include "lu/column_kernels.hpp"
#include "lu/golden.hpp"
#include "lu/golden_tournament.hpp"
#include "lu/hpl_dat.hpp"
#include "lu/panel.hpp"
#include "lu/residual.hpp"
#include "lu/row_moves.hpp"
#include "lu/test_matrix.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <tuple>
#include <vector>

namespace kumihimo::lu {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

std::shared_ptr<const blas::Blas> some_blas() {
  for (const char* const path : {"", "libblas.so.3"})
    if (const auto found = blas::Blas::open(path, "blas")) return *found;
  return nullptr;
}

std::vector<double> whole(const TestMatrix& matrix, std::int64_t columns) {
  std::vector<double> a;
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = 0; i < matrix.size(); ++i) a.push_back(matrix.at(i, j));
  return a;
}

TEST(BlockCyclicMatrix, EveryElementHasOnePlace) {
  for (const BlockCyclic d : {BlockCyclic{17, 4, 3}, {5, 8, 2}, {16, 4, 4}, {1, 1, 3}, {23, 1, 5}}) {
    std::int64_t sum = 0;
    for (std::int32_t part = 0; part < d.parts; ++part) {
      sum += d.count(part);
      for (std::int64_t l = 0; l < d.count(part); ++l) {
        EXPECT_EQ(d.owner(d.global(part, l)), part);
        EXPECT_EQ(d.local(d.global(part, l)), l);
        EXPECT_EQ(d.count(part, d.global(part, l)), l);
      }
    }
    EXPECT_EQ(sum, d.size);
  }
}

void expect_same(double a, double b) {
  if (!std::isnan(a) || !std::isnan(b)) EXPECT_EQ(a, b);
}

TEST(TestMatrices, EveryPartIsThatOfTheWhole) {
  for (const MatrixKind kind : {MatrixKind::random, MatrixKind::growing, MatrixKind::singular, MatrixKind::nan}) {
    const TestMatrix matrix(kind, 23, 5);
    for (const BlockCyclic rows : {BlockCyclic{23, 4, 3}, {23, 1, 2}, {23, 30, 2}, {23, 5, 1}})
      for (std::int32_t part = 0; part < rows.parts; ++part)
        for (const std::int64_t j : {0, 7, 11, 22, 23}) {
          std::vector<double> column(static_cast<std::size_t>(rows.count(part)));
          matrix.fill(j, rows, part, column.data());
          for (std::size_t l = 0; l < column.size(); ++l)
            expect_same(column[l], matrix.at(rows.global(part, static_cast<std::int64_t>(l)), j));
        }
  }
}

TEST(TestMatrices, RandomEntriesAreSpreadAndDifferBySeed) {
  const std::vector<double> a = whole(TestMatrix(MatrixKind::random, 100, 1), 100),
                            b = whole(TestMatrix(MatrixKind::random, 100, 2), 100);
  const double mean = std::accumulate(a.begin(), a.end(), 0.0) / 1e4;
  EXPECT_NEAR(mean, 0, 0.02);
  EXPECT_GT(*std::ranges::max_element(a), 0.49);
  EXPECT_LT(*std::ranges::min_element(a), -0.49);
  EXPECT_NE(a, b);
}

TEST(ColumnKernels, FindTheFirstOfTheLargest) {
  std::vector<double> x(100, 1);
  EXPECT_EQ(place_of_largest(x.data(), 100), 0);
  x[40] = x[71] = -3;
  EXPECT_EQ(place_of_largest(x.data(), 100), 40);
  x[99] = 4;
  EXPECT_EQ(place_of_largest(x.data(), 100), 99);
  x[50] = nan;
  EXPECT_EQ(place_of_largest(x.data(), 100), 50);
  EXPECT_EQ(place_of_largest(x.data(), 0), -1);
  const std::vector<double> zeros(20);
  EXPECT_EQ(place_of_largest(zeros.data(), 20), 0);
}

TEST(Golden, FactorsAndSolves) {
  const TestMatrix matrix(MatrixKind::random, 30, 3);
  const std::vector<double> a = whole(matrix, 30);
  const golden::Factors f = *golden::factor(a, 30);
  std::vector<double> b(30);
  for (std::int64_t i = 0; i < 30; ++i) b[static_cast<std::size_t>(i)] = matrix.at(i, 30);
  const std::vector<double> x = golden::solve(f, b);
  for (std::size_t i = 0; i < 30; ++i) {
    double sum = 0;
    for (std::size_t j = 0; j < 30; ++j) sum += a[i + 30 * j] * x[j];
    EXPECT_NEAR(sum, b[i], 1e-12);
  }
  for (std::size_t j = 0; j < 30; ++j)
    for (std::size_t i = j + 1; i < 30; ++i) EXPECT_LE(std::fabs(f.lu[i + 30 * j]), 1);
}

TEST(Golden, SaysWhichColumnHasNoPivot) {
  const auto singular = golden::factor(whole(TestMatrix(MatrixKind::singular, 10, 1), 10), 10);
  ASSERT_FALSE(singular);
  EXPECT_EQ(singular.error().sentence(), "the matrix is singular: column 5 has no pivot (got 0); use another matrix");
}

using GoldenFactor = Result<golden::Factors> (*)(std::vector<double>, std::int64_t);

constexpr GoldenFactor golden_copies[] = {
    [](std::vector<double> a, std::int64_t n) { return golden::factor(std::move(a), n); },
    [](std::vector<double> a, std::int64_t n) { return golden::factor_by_tournament(std::move(a), n, 4, 8); }};

TEST(Golden, RefusesAMatrixOfNoNumbers) {
  const std::vector<double> a = whole(TestMatrix(MatrixKind::nan, 10, 1), 10);
  EXPECT_EQ(std::ranges::count_if(a, [](double each) { return std::isnan(each); }), 1);
  for (const GoldenFactor factor : golden_copies) {
    EXPECT_EQ(factor(a, 10).error().sentence(), "column 5 of the matrix holds a NaN; use a matrix of finite numbers");
    std::vector<double> infinite = whole(TestMatrix(MatrixKind::random, 10, 1), 10);
    infinite[13] = -infinity;
    EXPECT_EQ(factor(infinite, 10).error().sentence(),
              "column 1 of the matrix holds an infinity; use a matrix of finite numbers");
  }
}

constexpr const char* overflow_of_column_2 =
    "the factors overflow: column 2 of U grew beyond the largest double, 1.8e+308 (got inf); "
    "use fewer rows, or a matrix whose entries grow less";

TEST(Golden, TellsAnOverflowFromASingularMatrix) {
  const double huge = 1e308; // the last column doubles with each row: 1, 2, 4
  const std::vector<double> a{1, -1, -1, 0, 1, -1, huge, huge, huge};
  for (const GoldenFactor factor : golden_copies) EXPECT_EQ(factor(a, 3).error().sentence(), overflow_of_column_2);
}

TEST(Golden, OfInfinitiesThatCancelTheMatrixIsNotSingular) {
  // Column 2 becomes infinite in row 1, and infinity less infinity in row 2.
  const std::vector<double> a{1, -1, -1, 0, 1, 1, 1.7e308, 1.7e308, 1.7e308};
  const std::string sentence = golden::factor(a, 3).error().sentence();
  EXPECT_TRUE(sentence.starts_with("the factors overflow: column 2 of U")) << sentence;
  EXPECT_NE(sentence.find("(got nan)"), std::string::npos) << sentence;
}

TEST(RowMoves, AreWhatTheExchangesDo) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200; ++round) {
    const auto below = [&](std::int64_t limit) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
    };
    const std::int64_t n = 1 + below(30), first = below(n), width = 1 + below(n - first);
    std::vector<std::int64_t> pivots, rows(static_cast<std::size_t>(n));
    for (std::int64_t k = 0; k < width; ++k) pivots.push_back(first + k + below(n - first - k));
    std::iota(rows.begin(), rows.end(), 0);
    std::vector<std::int64_t> expected = rows, moved = rows;
    for (std::size_t k = 0; k < pivots.size(); ++k)
      std::swap(expected[static_cast<std::size_t>(first) + k], expected[static_cast<std::size_t>(pivots[k])]);
    const RowMoves moves = moves_of(first, pivots);
    for (std::size_t k = 0; k < pivots.size(); ++k)
      moved[static_cast<std::size_t>(first) + k] = rows[static_cast<std::size_t>(moves.source[k])];
    for (const RowMoves::Displaced& each : moves.displaced) {
      EXPECT_LT(each.from, first + static_cast<std::int64_t>(pivots.size()));
      moved[static_cast<std::size_t>(each.to)] = rows[static_cast<std::size_t>(each.from)];
    }
    EXPECT_EQ(moved, expected);
    EXPECT_EQ(moves_of(first, pivots_of(first, moves.source)).source, moves.source);
  }
}

class Alone final : public ColumnOfProcesses {
 public:
  Status combine_pivots(std::span<double>) override { return Nothing{}; }
  Status combine_candidates(std::span<double>) override { return Nothing{}; }
};

struct WholePanel {
  std::int64_t rows, width;
  std::vector<double> a, top;
  WholePanel(std::int64_t m, std::int64_t n, std::vector<double> values)
      : rows(m), width(n), a(std::move(values)), top(static_cast<std::size_t>(n * n)) {}
  PanelPart part() {
    return {.a = a.data(),
            .leading = rows,
            .rows = rows,
            .width = width,
            .first = 0,
            .has_diagonal_block = true,
            .all_rows = {rows, rows, 1},
            .process = 0,
            .top = top.data()};
  }
};

TEST(Panels, HaveTheGoldenPivotsAndFactors) {
  const auto blas = some_blas();
  if (!blas) GTEST_SKIP() << "no BLAS library is here";
  Alone alone;
  for (const std::int64_t n : {1, 2, 7, 8, 9, 17, 40, 65}) {
    const std::vector<double> a = whole(TestMatrix(MatrixKind::random, n, 9), n);
    const golden::Factors expected = *golden::factor(a, n);
    WholePanel panel(n, n, a);
    const PanelPivots found = *factor_panel(panel.part(), *blas, alone);
    EXPECT_FALSE(found.missing);
    EXPECT_EQ(found.rows, expected.pivots) << n;
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(panel.top[i], expected.lu[i], 1e-10) << n;
  }
}

TEST(Panels, OfATournamentHoldTheChosenRowsFactored) {
  const auto blas = some_blas();
  if (!blas) GTEST_SKIP() << "no BLAS library is here";
  Alone alone;
  const std::int64_t n = 90, width = 6;
  const TestMatrix matrix(MatrixKind::random, n, 4);
  WholePanel panel(n, width, whole(matrix, width));
  const std::vector<std::int64_t> chosen = *tournament(panel.part(), *blas, alone);
  EXPECT_EQ(std::set<std::int64_t>(chosen.begin(), chosen.end()).size(), 6u);
  std::vector<double> top;
  for (std::int64_t j = 0; j < width; ++j)
    for (const std::int64_t row : chosen) top.push_back(matrix.at(row, j));
  std::vector<double> below = panel.a;
  EXPECT_FALSE(factor_chosen(top.data(), width, below.data(), n, n, 0, *blas));
  const double largest = std::fabs(*std::ranges::max_element(below, {}, [](double x) { return std::fabs(x); }));
  EXPECT_LT(largest, 10) << "multipliers of a tournament are not at most 1, but small";
  top[0] = 0;
  EXPECT_TRUE(factor_chosen(top.data(), width, below.data(), n, n, 30, *blas)->column == 30);
}

TEST(Panels, MissAPivotInsteadOfDividingByIt) {
  const auto blas = some_blas();
  if (!blas) GTEST_SKIP() << "no BLAS library is here";
  Alone alone;
  for (const auto& [column, value, sentence] :
       {std::tuple{3, 0.0, "the matrix is singular: column 3 has no pivot (got 0); use another matrix"},
        {3, nan,
         "the factors overflow: column 3 of U grew beyond the largest double, 1.8e+308 (got nan); use fewer rows, "
         "or a matrix whose entries grow less"},
        {0, -infinity,
         "the factors overflow: column 0 of U grew beyond the largest double, 1.8e+308 (got inf); use fewer "
         "rows, or a matrix whose entries grow less"}}) {
    WholePanel panel(10, 5, whole(TestMatrix(MatrixKind::random, 10, 1), 5));
    for (int i = 0; i < 10; ++i) panel.a[static_cast<std::size_t>(10 * column + i)] = value;
    const PanelPivots found = *factor_panel(panel.part(), *blas, alone);
    ASSERT_TRUE(found.missing);
    EXPECT_EQ(found.missing->error().sentence(), sentence);
  }
}

TEST(Panels, PivotsOfTwoProcessesAreCombinedWhereverTheResultGoes) {
  // candidate 2 of row 7, no current row; candidate 3 of row 9, current row 5 6
  const std::vector<double> left{2, 7, 0, 2, 20, 0, 0}, right{3, 9, 1, 3, 30, 5, 6};
  const std::vector<double> expected{3, 9, 1, 3, 30, 5, 6};
  for (const bool swapped : {false, true})
    for (int where = 0; where < 3; ++where) {
      std::vector<double> a = swapped ? right : left, b = swapped ? left : right, c(7);
      double* const target = where == 0 ? a.data() : where == 1 ? b.data() : c.data();
      combine_pivots(2, a.data(), b.data(), target);
      EXPECT_EQ(std::vector<double>(target, target + 7), expected) << swapped << where;
    }
  std::vector<double> low{2, 4, 1, 2, 1, 8, 9}, high{2, 3, 0, -2, 1, 0, 0}, none{-1, 0, 0, 0, 0, 0, 0}, target(7);
  combine_pivots(2, low.data(), high.data(), target.data());
  EXPECT_EQ(target, (std::vector<double>{2, 3, 1, -2, 1, 8, 9})) << "of equal ones the first row";
  combine_pivots(2, none.data(), low.data(), target.data());
  EXPECT_EQ(target, low);
  high[0] = nan;
  combine_pivots(2, low.data(), high.data(), target.data());
  EXPECT_EQ(target[1], 3) << "a NaN comes before all";
}

TEST(Residual, IsHpls) {
  EXPECT_EQ(scaled_residual({.residual = 0, .a = 0, .x = 0, .b = 0}, 10), 0);
  EXPECT_DOUBLE_EQ(scaled_residual({.residual = 0x1p-53, .a = 2, .x = 3, .b = 4}, 10), 0.01);
  EXPECT_TRUE(std::isnan(scaled_residual({.residual = nan, .a = 1, .x = 1, .b = 1}, 10)));
}

constexpr const char* good = "HPLinpack benchmark input file\nTennessee\nHPL.out\n6 device out\n2 # of N\n29 30.5\n";

TEST(HplDat, ReadsListsAndSkipsWords) {
  const std::string text =
      "title\ntitle\nHPL.out out\n6 device\n3  # of sizes\n29 30 34   Ns\n2 NBs\n1 4 NBs\n0 PMAP\n2 grids\n"
      "2 1 Ps\n2 4 Qs\n16.0 threshold\n";
  const HplInput input = *parse_hpl_dat(text, "HPL.dat");
  EXPECT_EQ(input.sizes, (std::vector<std::int64_t>{29, 30, 34}));
  EXPECT_EQ(input.blocks, (std::vector<std::int64_t>{1, 4}));
  EXPECT_EQ(input.grids, (std::vector<std::pair<std::int32_t, std::int32_t>>{{2, 2}, {1, 4}}));
  EXPECT_EQ(input.threshold, 16);
  EXPECT_TRUE(input.broadcasts.empty() && input.depths.empty() && input.unused.empty());
}

constexpr const char* thirteen_lines = "a\nb\nc\nd\n1 Ns\n8\n1 NBs\n4\n1 PMAP\n1\n2\n2\n16.0\n";

TEST(HplDat, ReadsWhatTunesHplToTheEnd) {
  const std::string text = std::string(thirteen_lines) +
                           "3 #\r\n0 1 2 PFACTs (0=left, 1=Crout, 2=Right)\r\n2\n2 4 NBMINs\n1\n2 NDIVs\n1\n1 RFACTs\n"
                           "6\n0 1 2 3 4 5 BCASTs\n2\n0 1 DEPTHs\n2 SWAP\n64 x\n1 L1\n0 U\n1 Equilibration\n8 align\n"
                           "##### This line (no. 32) is ignored\n0 PTRANS\n";
  const HplInput input = *parse_hpl_dat(text, "HPL.dat");
  EXPECT_TRUE(input.is_column_major);
  EXPECT_EQ(input.broadcasts, std::vector<std::string_view>(hpl_broadcasts.begin(), hpl_broadcasts.end()));
  EXPECT_EQ(input.depths, (std::vector<std::int64_t>{0, 1}));
  ASSERT_EQ(input.unused.size(), 10u);
  EXPECT_EQ(input.unused[0].line, 15);
  EXPECT_EQ(input.unused[0].name, "PFACT");
  EXPECT_EQ(input.unused[0].values, "0 1 2");
  EXPECT_EQ(input.unused[9].line, 31);
  for (const UnusedLine& each : input.unused) EXPECT_FALSE(each.reason.empty());
}

TEST(HplDat, MayEndAfterAnyListBehindTheThreshold) {
  std::string text = thirteen_lines;
  const auto lines = [&] { return std::ranges::count(text, '\n'); };
  for (const char* next :
       {"1\n2\n", "1\n4\n", "1\n2\n", "1\n1\n", "1\n3\n", "1\n1\n", "2\n", "64\n", "0\n", "0\n", "1\n", "8\n"}) {
    text += next;
    EXPECT_TRUE(parse_hpl_dat(text, "HPL.dat").ok()) << lines() << " lines";
  }
  EXPECT_EQ(lines(), 31);
  EXPECT_EQ(parse_hpl_dat(std::string(thirteen_lines) + "1 #\n", "HPL.dat").error().sentence(),
            "HPL.dat:15: PFACT must be a number from 0 to 2 (got nothing)");
}

TEST(HplDat, ABrokenFileIsOneSentenceWithItsLine) {
  const auto sentence = [](const std::string& text) { return parse_hpl_dat(text, "HPL.dat").error().sentence(); };
  EXPECT_EQ(sentence(good), "HPL.dat:6: N must be 2 numbers from 1 to 100000000 (got '30.5')");
  EXPECT_EQ(sentence(""), "HPL.dat:5: the number of values of N must be a number from 1 to 20 (got nothing)");
  EXPECT_EQ(sentence("a\nb\nc\nd\n\xff\xfe Ns\n"),
            "HPL.dat:5: the number of values of N must be a number from 1 to 20 (got bytes that are no text)");
  EXPECT_EQ(sentence("a\nb\nc\nd\n0 Ns\n"),
            "HPL.dat:5: the number of values of N must be a number from 1 to 20 (got '0')");
  EXPECT_EQ(sentence("a\nb\nc\nd\n1\n8\n1\n4\n2 PMAP\n"), "HPL.dat:9: PMAP must be a number from 0 to 1 (got '2')");
  EXPECT_EQ(sentence("a\nb\nc\nd\n1\n8\n1\n4\n0 PMAP\n2 grids\n2 x\n"),
            "HPL.dat:11: P must be 2 numbers from 1 to 1048576 (got 'x')");
  for (const char* threshold : {"-1", "0", "nan", "inf", "-inf", "1e400", "x"})
    EXPECT_EQ(sentence(std::string("a\nb\nc\nd\n1\n8\n1\n4\n0 PMAP\n1\n2\n2\n") + threshold + "\n"),
              std::string("HPL.dat:13: the threshold must be a finite number above 0: the residual is always checked "
                          "(got '") +
                  threshold + "'); write 16.0");
  const std::string tuned = std::string(thirteen_lines) + "1\n2\n1\n4\n1\n2\n1\n1\n";
  EXPECT_EQ(sentence(tuned + "1\n7\n"), "HPL.dat:23: BCAST must be a number from 0 to 5 (got '7')");
  EXPECT_EQ(sentence(tuned + "1\n5\n1\n9\n"), "HPL.dat:25: DEPTH must be a number from 0 to 8 (got '9')");
  EXPECT_EQ(sentence(tuned + "1\n5\n1\n1\n3\n"), "HPL.dat:26: SWAP must be a number from 0 to 2 (got '3')");
}

} // namespace
} // namespace kumihimo::lu
