#include "matrices.hpp"
#include "sparse/matrix_market.hpp"

#include <filesystem>
#include <fstream>

namespace kumihimo::sparse {
namespace {

const std::string symmetric = "%%MatrixMarket matrix coordinate real symmetric\n";
const std::string general = "%%MatrixMarket matrix coordinate real general\n";
const std::string array = "%%MatrixMarket matrix array real symmetric\n";

TEST(MatrixMarket, ReadsSymmetricGeneralIntegerAndPatternFiles) {
  const std::string tail = "2 2 3\n1 1 4\n2 1 -1\n2 2 3\n";
  for (const std::string& text : std::vector<std::string>{
           symmetric + "% a comment\n\n" + tail,
           "%%MatrixMarket MATRIX Coordinate integer symmetric\r\n2 2 3\r\n1 1 4\r\n2 1 -1\r\n2 2 3\r\n",
           general + "2 2 4\n2 2 3\n2 1 -1.0e0\n1 2 -1\n1 1 +4", array + "2 2\n4\n-1\n3\n",
           "%%MatrixMarket matrix array integer general\n2 2\n4\n-1\n-1\n3\n", "\xef\xbb\xbf" + symmetric + tail,
           "%%MatrixMarket matrix coordinate real symmetric\r2 2 3\r1 1 4\r2 1 -1\r2 2 3\r",
           symmetric + "2 2 3\n1 1 0.4D+01\n2 1 -1d0\n2 2 0.3d+001\n"}) {
    const Result<CrsMatrix> read = parse_matrix_market(text);
    ASSERT_TRUE(read) << read.error().sentence();
    EXPECT_EQ(read->begin, (std::vector<std::int64_t>{0, 2, 4}));
    EXPECT_EQ(read->column, (std::vector<std::int32_t>{0, 1, 0, 1}));
    EXPECT_EQ(read->value, (std::vector<double>{4, -1, -1, 3}));
  }
  const Result<CrsMatrix> pattern =
      parse_matrix_market("%%MatrixMarket matrix coordinate pattern symmetric\n2 2 2\n1 1\n2 2\n");
  ASSERT_TRUE(pattern);
  EXPECT_EQ(pattern->value, (std::vector<double>{1, 1}));
}

// The sums of both triangles have the same bits, though the parts come in another order.
TEST(MatrixMarket, AddsEntriesAtTheSamePlace) {
  const Result<CrsMatrix> read = parse_matrix_market(
      general + "2 2 9\n1 1 4\n2 2 1\n1 2 -0.1\n2 1 -0.3\n2 2 2\n1 2 -0.2\n1 2 -0.3\n2 1 -0.2\n2 1 -0.1\n");
  ASSERT_TRUE(read) << read.error().sentence();
  EXPECT_EQ(read->begin, (std::vector<std::int64_t>{0, 2, 4}));
  EXPECT_DOUBLE_EQ(read->value[1], -0.6);
  EXPECT_EQ(read->value[1], read->value[2]);
  EXPECT_EQ(read->value[3], 3);
  const Result<CrsMatrix> triangle = parse_matrix_market(symmetric + "2 2 4\n1 1 4\n2 1 -1\n2 2 3\n2 1 -1\n");
  ASSERT_TRUE(triangle) << triangle.error().sentence();
  EXPECT_EQ(triangle->value, (std::vector<double>{4, -2, -2, 3}));
  const Result<CrsMatrix> pattern =
      parse_matrix_market("%%MatrixMarket matrix coordinate pattern symmetric\n1 1 2\n1 1\n1 1\n");
  ASSERT_TRUE(pattern) << pattern.error().sentence();
  EXPECT_EQ(pattern->value, (std::vector<double>{1}));
}

// Makers of general files often write a zero of one triangle alone.
TEST(MatrixMarket, DropsZerosOffTheDiagonal) {
  for (const std::string& text : std::vector<std::string>{symmetric + "3 3 4\n1 1 4\n2 1 0\n2 2 3\n3 3 2\n",
                                                          general + "3 3 5\n1 1 4\n1 2 0\n2 2 3\n3 2 -0\n3 3 2\n"}) {
    const Result<CrsMatrix> read = parse_matrix_market(text);
    ASSERT_TRUE(read) << read.error().sentence();
    EXPECT_EQ(read->begin, (std::vector<std::int64_t>{0, 1, 2, 3}));
    EXPECT_EQ(read->value, (std::vector<double>{4, 3, 2}));
  }
}

TEST(MatrixMarket, WritesWhatItReads) {
  const std::string path = testing::TempDir() + "kumihimo_matrix.mtx";
  for (const Named& named : matrices()) {
    ASSERT_TRUE(write_matrix_market(named.matrix, path));
    const Result<CrsMatrix> read = read_matrix_market(path);
    ASSERT_TRUE(read) << read.error().sentence();
    EXPECT_EQ(read->begin, named.matrix.begin) << named.name;
    EXPECT_EQ(read->column, named.matrix.column) << named.name;
    EXPECT_EQ(read->value, named.matrix.value) << named.name;
  }
  std::filesystem::remove(path);
  EXPECT_FALSE(write_matrix_market(poisson(2, 2, 2), testing::TempDir() + "no/such/folder/a.mtx"));
}

TEST(MatrixMarket, ErrorsOfAFileBeginWithItsPath) {
  const std::string path = testing::TempDir() + "kumihimo_wrong.mtx";
  std::ofstream(path) << symmetric << "1 1 1\n1 1 x\n";
  EXPECT_EQ(read_matrix_market(path).error().sentence(), path + ": line 3: the value must be a finite number (got x)");
  std::filesystem::remove(path);
  EXPECT_NE(read_matrix_market(path).error().sentence().find("cannot be read"), std::string::npos);
}

TEST(MatrixMarket, NamesTheWrongLine) {
  const struct {
    std::string text, error;
  } cases[] = {
      {"", "the file is empty"},
      {" \n\n", "the file is empty"},
      {"1 1 1\n1 1 1\n", "line 1: the first line must be the header of a Matrix Market matrix (got 1 1 1)"},
      {"%%MatrixMarket vector coordinate real general\n", "line 1: the first line must be the header"},
      {"%%MatrixMarket matrix list real general\n", "line 1: the format must be coordinate or array (got list)"},
      {"%%MatrixMarket matrix array pattern general\n", "line 1: an array must have values (got pattern)"},
      {array + "2 2 3\n", "line 2: the line of sizes must be two numbers: rows, columns (got 2 2 3)"},
      {array + "2 2\n1\n0\n", "line 4: the file must have 3 entries, but ends after 2"},
      {array + "2147483647 2147483647\n1\n", "line 3: the file must have 2305843008139952128 entries"},
      {array + "1 1\n1 2\n", "line 3: the value must be a finite number (got 1 2)"},
      {"%%MatrixMarket matrix coordinate complex symmetric\n",
       "line 1: the values must be real, integer or pattern (got complex)"},
      {"%%MatrixMarket matrix coordinate real hermitian\n",
       "line 1: the symmetry must be general or symmetric (got hermitian)"},
      {"%%MatrixMarket matrix coordinate real skew-symmetric\n",
       "line 1: the symmetry must be general or symmetric (got skew-symmetric)"},
      {symmetric, "line 1: the line of sizes is missing"},
      {symmetric + "% only a comment\n", "line 2: the line of sizes is missing"},
      {symmetric + "2 2\n", "line 2: the line of sizes must be three numbers"},
      {symmetric + "2 2 x\n", "line 2: the line of sizes must be three numbers"},
      {symmetric + "2 3 1\n", "line 2: the matrix must be square (got 2 rows, 3 columns)"},
      {symmetric + "0 0 0\n", "line 2: the number of rows must be 1 to 2147483647 (got 0)"},
      {symmetric + "3000000000 3000000000 1\n", "line 2: the number of rows must be 1 to 2147483647"},
      {symmetric + "1 1 -1\n", "line 2: each row must have a diagonal entry"},
      {symmetric + "2147483647 2147483647 1\n1 1 1\n",
       "line 2: each row must have a diagonal entry, so there must be at least as many entries as rows (got 1 entries, "
       "2147483647 rows)"},
      {symmetric + "2 2 2\n1 1 1\n", "line 3: the file must have 2 entries, but ends after 1"},
      {symmetric + "1 1 1\n1 1 1\n\n1 1 1\n", "line 5: the file must end after its 1 entries (got 1 1 1)"},
      {symmetric + "1 1 1\n1 1\n", "line 3: an entry must be three numbers: row, column, value (got 1 1)"},
      {symmetric + "1 1 1\n1 1 1 0\n", "line 3: an entry must be three numbers"},
      {"%%MatrixMarket matrix coordinate pattern symmetric\n1 1 1\n1 1 1\n",
       "line 3: an entry must be two numbers: row, column"},
      {symmetric + "2 2 2\n3 1 1\n", "line 3: the row must be a number from 1 to 2 (got 3)"},
      {symmetric + "2 2 2\n1 0 1\n", "line 3: the column must be a number from 1 to 2 (got 0)"},
      {symmetric + "2 2 2\n1 x 1\n", "line 3: the column must be a number from 1 to 2 (got x)"},
      {symmetric + "1 1 1\n1 1 nan\n", "line 3: the value must be a finite number (got nan)"},
      {symmetric + "1 1 1\n1 1 inf\n", "line 3: the value must be a finite number (got inf)"},
      {symmetric + "1 1 1\n1 1 1e999\n", "line 3: the value must be a finite number (got 1e999)"},
      {symmetric + "1 1 1\n1 1 0\n", "line 3: the diagonal entry of row 1 must be positive (got 0)"},
      {symmetric + "1 1 1\n% negative\n1 1 -3\n", "line 4: the diagonal entry of row 1 must be positive (got -3)"},
      {symmetric + "2 2 4\n1 1 2\n2 2 2\n2 1 1\n1 2 1\n", "line 6: row 1, column 2 is given in both triangles, first "
                                                          "in line 5; of a symmetric matrix, give the entries of "
                                                          "one triangle"},
      {symmetric + "1 1 2\n1 1 1e308\n1 1 1e308\n", "line 3: the sum of the entries at row 1, column 1 must be finite"},
      {symmetric + "1 1 2\n1 1 1\n1 1 -1\n", "line 3: the diagonal entry of row 1 must be positive (got 0)"},
      {symmetric + "1 1 999999999999999999\n1 1 1\n", "line 3: the file must have 999999999999999999 entries"},
      {symmetric + "1 1 1\n1 1 1-1\n", "line 3: the value must be a finite number (got 1-1)"},
      {symmetric + "1 1 1\n1 1 \x1b[31m\n", "line 3: the value must be a finite number (got  [31m)"},
      {symmetric + "2 2 2\n1 1 1\n2 1 0.5\n", "row 2 has no diagonal entry"},
      {general + "2 2 3\n1 1 2\n2 2 2\n2 1 1\n", "the matrix must be symmetric, but row 2, column 1 holds 1"},
      {general + "2 2 4\n1 1 2\n2 2 2\n2 1 0\n1 2 0.5\n",
       "the matrix must be symmetric, but row 1, column 2 holds 0.5"},
      {general + "2 2 4\n1 1 2\n2 2 2\n2 1 1\n2 1 -2\n", "the matrix must be symmetric"},
      {general + "2 2 4\n1 1 2\n2 2 2\n2 1 1\n1 2 0.5\n", "the matrix must be symmetric"},
      {symmetric + "2 2 3\n1 1 2\n2 2 2\n2 1 2\n", "the matrix is not positive definite"},
  };
  for (const auto& [text, error] : cases) {
    const Result<CrsMatrix> read = parse_matrix_market(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().sentence().substr(0, error.size()), error) << text;
  }
}

} // namespace
} // namespace kumihimo::sparse
