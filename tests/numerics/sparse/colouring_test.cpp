#include "matrices.hpp"
#include "sparse/colouring.hpp"

#include <algorithm>
#include <set>

namespace kumihimo::sparse {
namespace {

std::string error_of(const CrsMatrix& a, const Colouring& c) {
  const Status status = check_colouring(a, c);
  return status ? "" : status.error().sentence();
}

TEST(Colouring, EveryOrderingSeparatesNeighbours) {
  for (const Named& named : matrices()) {
    EXPECT_EQ(error_of(named.matrix, level_sets(named.matrix)), "") << named.name;
    EXPECT_EQ(error_of(named.matrix, reverse_cuthill_mckee(named.matrix)), "") << named.name;
    EXPECT_EQ(error_of(named.matrix, greedy_colouring(named.matrix)), "") << named.name;
    for (const int m : {1, 2, 3, 4, 10, 100000})
      EXPECT_EQ(error_of(named.matrix, cm_rcm(named.matrix, m)), "") << named.name << " " << m;
  }
}

TEST(Colouring, LevelsOfABoxAreItsDiagonalPlanesFromACorner) {
  const int nx = 5, ny = 4, nz = 3;
  const Colouring levels = level_sets(poisson(nx, ny, nz));
  ASSERT_EQ(levels.colours(), nx + ny + nz - 2);
  const std::vector<std::int32_t> level = levels.colour_of_row();
  std::set<std::int32_t> from_corner, from_opposite;
  for (std::int32_t row = 0; row < nx * ny * nz; ++row) {
    const std::int32_t plane = row % nx + row / nx % ny + row / nx / ny;
    EXPECT_EQ(level[row], plane);
  }
  EXPECT_EQ(reverse_cuthill_mckee(poisson(nx, ny, nz)).colour_of_row()[0], nx + ny + nz - 3);
}

TEST(Colouring, CmRcmTakesLevelModM) {
  const CrsMatrix a = poisson(6, 5, 4);
  const std::vector<std::int32_t> level = reverse_cuthill_mckee(a).colour_of_row();
  for (const int m : {2, 3, 7}) {
    const Colouring made = cm_rcm(a, m);
    ASSERT_EQ(made.colours(), m);
    const std::vector<std::int32_t> colour = made.colour_of_row();
    for (std::size_t i = 0; i < colour.size(); ++i) EXPECT_EQ(colour[i], level[i] % m);
  }
  EXPECT_EQ(cm_rcm(a, 1).colours(), 2);     // raised
  EXPECT_EQ(cm_rcm(a, 1000).colours(), 13); // all levels
}

// Neighbours two levels apart: a path of 5 rows with a chord is an odd ring.
TEST(Colouring, CmRcmRaisesMOnOddRings) {
  const CrsMatrix ring = dominant(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}, 1);
  EXPECT_GE(cm_rcm(ring, 2).colours(), 3);
}

TEST(Colouring, GreedyNeedsAtMostOneColourMoreThanTheMostNeighbours) {
  EXPECT_EQ(greedy_colouring(star(100)).colours(), 2);
  EXPECT_EQ(greedy_colouring(poisson(6, 6, 6)).colours(), 2);
  EXPECT_EQ(greedy_colouring(dominant(4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}}, 1)).colours(), 4);
}

TEST(Colouring, SabotageIsCaught) {
  const CrsMatrix a = poisson(4, 3, 2);
  Colouring two_neighbours = greedy_colouring(a);
  // Row 2 (of the first colour) and row 1 (of the second) change places.
  std::iter_swap(std::find(two_neighbours.row.begin(), two_neighbours.row.end(), 0),
                 std::find(two_neighbours.row.begin(), two_neighbours.row.end(), 1));
  EXPECT_NE(error_of(a, two_neighbours).find("are neighbours, but share colour"), std::string::npos);
  Colouring twice = greedy_colouring(a);
  twice.row[1] = twice.row[0];
  EXPECT_EQ(error_of(a, twice), "row 1 is in the colouring twice");
  Colouring short_of_one = greedy_colouring(a);
  --short_of_one.begin.back();
  EXPECT_NE(error_of(a, short_of_one).find("has no colour"), std::string::npos);
  Colouring out_of_range = greedy_colouring(a);
  out_of_range.row[0] = 24;
  EXPECT_EQ(error_of(a, out_of_range), "rows of a colouring must be 1 to 24 (got 25)");
  Colouring too_long = greedy_colouring(a);
  ++too_long.begin.back();
  EXPECT_NE(error_of(a, too_long).find("does not list them"), std::string::npos);
}

} // namespace
} // namespace kumihimo::sparse
