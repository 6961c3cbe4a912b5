#include "matrices.hpp"

#include <limits>

namespace kumihimo::sparse {
namespace {

std::string error_of(const CrsMatrix& a) {
  const Status status = check_symmetric_positive(a);
  return status ? "" : status.error().sentence();
}

TEST(CheckSymmetricPositive, AcceptsTheMatricesOfTheTests) {
  for (const Named& named : matrices()) EXPECT_EQ(error_of(named.matrix), "") << named.name;
}

TEST(CheckSymmetricPositive, AcceptsGhostsWithoutMirrorImage) {
  CrsMatrix a = matrix_of(2, {{{0, 0}, 2.0}, {{0, 1}, -1.0}, {{1, 0}, -1.0}, {{1, 1}, 2.0}, {{1, 3}, -5.0}});
  a.columns = 4;
  EXPECT_EQ(error_of(a), "");
}

TEST(CheckSymmetricPositive, NamesTheFirstFault) {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto has = [](const Places& places, const std::string& text) {
    const std::string error = error_of(matrix_of(3, places));
    EXPECT_NE(error.find(text), std::string::npos) << error;
  };
  const auto with = [](std::pair<std::int32_t, std::int32_t> place, double value) {
    Places places{{{0, 0}, 2}, {{0, 1}, -1}, {{1, 0}, -1}, {{1, 1}, 2}, {{2, 2}, 2}};
    places[place] = value;
    return places;
  };
  has({{{0, 0}, 1}, {{1, 1}, 1}}, "row 3 has no diagonal entry");
  has(with({1, 1}, 0), "the diagonal entry of row 2 must be positive (got 0)");
  has(with({1, 1}, -2), "the diagonal entry of row 2 must be positive (got -2)");
  has(with({1, 1}, nan), "row 2, column 2 must be finite (got nan)");
  has(with({0, 1}, inf), "row 1, column 2 must be finite (got inf)");
  has(with({0, 1}, -1.5), "row 1, column 2 holds -1.5 and row 2, column 1 holds -1");
  has(with({0, 2}, 0.5), "row 1, column 3 holds 0.5 and row 3, column 1 holds 0");
  has(with({2, 0}, 0.5), "row 3, column 1 holds 0.5 and row 1, column 3 holds 0");
  has(with({2, 1}, 0.5), "row 3, column 2 holds 0.5 and row 2, column 3 holds 0");
  Places indefinite = with({0, 1}, -2);
  indefinite[{1, 0}] = -2;
  has(indefinite, "the matrix is not positive definite: the entry -2 at row 1, column 2");
}

TEST(CheckSymmetricPositive, RefusesArraysThatDoNotFit) {
  CrsMatrix a = poisson(3, 2, 1);
  a.columns = 5;
  EXPECT_NE(error_of(a).find("as many columns or more (got 5)"), std::string::npos);
  a = poisson(3, 2, 1);
  a.column[1] = 6;
  EXPECT_NE(error_of(a).find("the columns of row 1 must be 1 to 6 (got 7)"), std::string::npos);
  a = poisson(3, 2, 1);
  std::swap(a.column[0], a.column[1]);
  EXPECT_NE(error_of(a).find("the columns of row 1 must ascend"), std::string::npos);
  a.value.pop_back();
  EXPECT_NE(error_of(a).find("must have rows + 1 row pointers"), std::string::npos);
  EXPECT_NE(error_of(CrsMatrix{}).find("1 row or more (got 0)"), std::string::npos);
}

} // namespace
} // namespace kumihimo::sparse
