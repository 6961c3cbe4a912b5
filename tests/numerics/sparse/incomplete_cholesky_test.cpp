#include "matrices.hpp"
#include "sparse/golden.hpp"
#include "sparse/incomplete_cholesky.hpp"
#include "threads/team.hpp"

#include <limits>

namespace kumihimo::sparse {
namespace {

RowNumbering numbering_of(const CrsMatrix& a, RowOrder order, int colours) {
  return number(a, cm_rcm(a, colours), order, 3);
}

std::vector<std::int32_t> old_of_rank(const RowNumbering& numbering) {
  std::vector<std::int32_t> old(numbering.rank.size());
  for (std::size_t i = 0; i < old.size(); ++i) old[numbering.rank[i]] = numbering.old_of_new[i];
  return old;
}

TEST(RowNumbering, IsAPermutationInBlocks) {
  for (const Named& named : matrices())
    for (const RowOrder order : {RowOrder::coalesced, RowOrder::sequential})
      for (const int sigma : {1, 4, 100}) {
        const Colouring colouring = cm_rcm(named.matrix, 4);
        const RowNumbering made = number(named.matrix, colouring, order, 5, sigma);
        const std::vector<std::int32_t> colour = colouring.colour_of_row();
        std::vector<int> ranks(made.rank.size());
        std::int64_t rows = 0;
        for (std::int32_t i = 0; i < made.rows(); ++i) {
          EXPECT_EQ(made.new_of_old[made.old_of_new[i]], i);
          EXPECT_EQ(made.colour[i], colour[made.old_of_new[i]]);
          ++ranks[made.rank[i]];
        }
        EXPECT_EQ(ranks, std::vector<int>(ranks.size(), 1));
        for (int c = 0; c < made.colours; ++c)
          for (int p = 0; p < made.parts; ++p) {
            rows += made.at(c, p).size();
            for (std::int64_t i = made.at(c, p).begin; i < made.at(c, p).end; ++i) EXPECT_EQ(made.colour[i], c);
          }
        EXPECT_EQ(rows, made.rows());
      }
}

// Blocks follow each other without gaps: colour by colour, in each group of parts if sequential.
TEST(RowNumbering, PutsAGroupsPartsOfAColourSideBySide) {
  const CrsMatrix a = poisson(12, 12, 12);
  for (const int parts : {3, 8, 20}) {
    const Colouring colouring = cm_rcm(a, 4);
    const RowNumbering coalesced = number(a, colouring, RowOrder::coalesced, parts);
    const RowNumbering sequential = number(a, colouring, RowOrder::sequential, parts);
    ASSERT_EQ(sequential.groups, std::min(parts, 8));
    std::int64_t next = 0;
    for (int c = 0; c < coalesced.colours; ++c)
      for (int p = 0; p < parts; next = coalesced.at(c, p++).end) ASSERT_EQ(coalesced.at(c, p).begin, next);
    next = 0;
    for (int g = 0; g < sequential.groups; ++g) {
      const threads::IndexRange group = threads::part(parts, g, sequential.groups);
      for (std::int64_t p = group.begin; p < group.end; ++p)
        ASSERT_EQ(sequential.group_of(static_cast<int>(p)), g) << parts;
      for (int c = 0; c < sequential.colours; ++c)
        for (std::int64_t p = group.begin; p < group.end; ++p) {
          ASSERT_EQ(sequential.at(c, static_cast<int>(p)).begin, next);
          next = sequential.at(c, static_cast<int>(p)).end;
        }
    }
    EXPECT_EQ(next, a.rows);
  }
}

TEST(RowNumbering, HasMorePartsOnlyWhereTheyHoldRows) {
  EXPECT_EQ(parts_for(1, 1), 48);
  EXPECT_EQ(parts_for(192 * 64 * 3 - 1, 3), 48);
  EXPECT_EQ(parts_for(192 * 64 * 3, 3), 192);
  EXPECT_EQ(parts_for(std::numeric_limits<std::int32_t>::max(), 2), 192);
}

TEST(RowNumbering, BothOrdersEliminateInTheSameOrder) {
  const CrsMatrix a = random_matrix(500, 1500, 11);
  EXPECT_EQ(old_of_rank(numbering_of(a, RowOrder::coalesced, 5)),
            old_of_rank(numbering_of(a, RowOrder::sequential, 5)));
}

// The same operations in the same order, so the same bits.
TEST(IncompleteCholesky, EqualsTheGoldenCopyBitForBit) {
  for (const int team : {1, 3}) {
    ASSERT_TRUE(threads::use(team));
    for (const Named& named : matrices())
      for (const RowOrder order : {RowOrder::coalesced, RowOrder::sequential})
        for (const OffDiagonals kind : {OffDiagonals::own, OffDiagonals::of_matrix}) {
          const RowNumbering numbering = numbering_of(named.matrix, order, 6);
          const CrsMatrix sorted = permuted(named.matrix, old_of_rank(numbering));
          const Result<golden::GoldenFactor> expected = golden::factorise(sorted, kind == OffDiagonals::own);
          const Result<Factor> made = factorise(split(named.matrix, numbering), numbering, kind);
          ASSERT_TRUE(expected && made) << named.name;
          const SplitMatrix parts = split(named.matrix, numbering);
          for (std::int32_t i = 0; i < numbering.rows(); ++i) {
            const std::int32_t rank = numbering.rank[i];
            EXPECT_EQ(made->pivot[i], expected->pivot[rank]) << named.name;
            if (kind == OffDiagonals::of_matrix) continue;
            for (std::int64_t k = 0; k < parts.lower.begin[i + 1] - parts.lower.begin[i]; ++k)
              EXPECT_EQ(made->lower[parts.lower.begin[i] + k], expected->lower[sorted.begin[rank] + k]) << named.name;
          }
        }
  }
  ASSERT_TRUE(threads::use(1));
}

TEST(IncompleteCholesky, UpperIsTheTransposeOfLower) {
  const CrsMatrix a = random_matrix(300, 2000, 12);
  const RowNumbering numbering = numbering_of(a, RowOrder::sequential, 4);
  const SplitMatrix parts = split(a, numbering);
  const Factor factor = *factorise(parts, numbering, OffDiagonals::own);
  Places lower, upper;
  for (std::int32_t i = 0; i < a.rows; ++i) {
    for (std::int64_t k = parts.lower.begin[i]; k < parts.lower.begin[i + 1]; ++k)
      lower[{i, parts.lower.column[k]}] = factor.lower[k];
    for (std::int64_t k = parts.upper.begin[i]; k < parts.upper.begin[i + 1]; ++k)
      upper[{parts.upper.column[k], i}] = factor.upper[k];
  }
  EXPECT_EQ(lower, upper);
}

TEST(IncompleteCholesky, WithoutTrianglesTheOffDiagonalsAreThoseOfTheMatrix) {
  int compared = 0;
  for (const Named& named : matrices()) {
    if (named.name.find("poisson") == std::string::npos && named.name != "star") continue;
    const RowNumbering numbering = numbering_of(named.matrix, RowOrder::coalesced, 4);
    const SplitMatrix parts = split(named.matrix, numbering);
    const Factor own = *factorise(parts, numbering, OffDiagonals::own);
    const Factor shared = *factorise(parts, numbering, OffDiagonals::of_matrix);
    EXPECT_EQ(own.lower, parts.lower.value) << named.name;
    EXPECT_EQ(own.upper, parts.upper.value) << named.name;
    EXPECT_EQ(own.pivot, shared.pivot) << named.name;
    ++compared;
  }
  EXPECT_GE(compared, 2);
  // With a triangle they differ.
  const CrsMatrix triangle = dominant(3, {{0, 1}, {1, 2}, {0, 2}}, 5);
  const RowNumbering numbering = numbering_of(triangle, RowOrder::coalesced, 4);
  const SplitMatrix parts = split(triangle, numbering);
  EXPECT_NE((*factorise(parts, numbering, OffDiagonals::own)).lower, parts.lower.value);
}

TEST(IncompleteCholesky, BreakdownNamesTheRow) {
  // Positive 2x2 minors, so that the cheap check passes, but indefinite: eigenvalue 1 - 2 * 0.9 < 0.
  const CrsMatrix a = matrix_of(3, {{{0, 0}, 1},
                                    {{0, 1}, -0.9},
                                    {{0, 2}, -0.9},
                                    {{1, 0}, -0.9},
                                    {{1, 1}, 1},
                                    {{1, 2}, -0.9},
                                    {{2, 0}, -0.9},
                                    {{2, 1}, -0.9},
                                    {{2, 2}, 1}});
  ASSERT_TRUE(check_symmetric_positive(a));
  EXPECT_EQ(golden::factorise(a).error().sentence().substr(0, 66),
            "the incomplete Cholesky factorisation breaks down at row 3: its pi");
  const RowNumbering numbering = numbering_of(a, RowOrder::coalesced, 3);
  for (const OffDiagonals kind : {OffDiagonals::own, OffDiagonals::of_matrix}) {
    const Result<Factor> made = factorise(split(a, numbering), numbering, kind);
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().problem.find("the incomplete Cholesky factorisation breaks down at row "), 0u);
  }
}

} // namespace
} // namespace kumihimo::sparse
