// Colourings of the rows of a matrix: rows of one colour are no neighbours, so threads eliminate them in any order.
// The order of the colours is the order of elimination.
#pragma once

#include "sparse/crs_matrix.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::sparse {

struct Colouring {
  std::vector<std::int64_t> begin = {0}; // colour c holds row[begin[c]] .. row[begin[c + 1] - 1]
  std::vector<std::int32_t> row;

  int colours() const { return static_cast<int>(begin.size()) - 1; }
  std::vector<std::int32_t> colour_of_row() const;
};

// Error: a row is missing or given twice, or two neighbours share a colour, with both rows counted from 1.
Status check_colouring(const CrsMatrix& matrix, const Colouring& colouring);

// Level sets of Cuthill and McKee (ACM 1969), one colour per level. Each connected part starts at level 0 with a row of
// small degree at its end (A. George, J. W. H. Liu, ACM TOMS 5, 1979); for a box, at a corner. A level holds
// neighbours of the level before, in ascending degree below each of them. Of neighbours within a level, all but one
// wait for the next (K. Nakajima), so that no neighbours share a level; 7-point matrices have none.
Colouring level_sets(const CrsMatrix& matrix);

// Reverse Cuthill-McKee: the level sets, the last one first.
Colouring reverse_cuthill_mckee(const CrsMatrix& matrix);

// CM-RCM(m): level l of the reversed level sets has colour l mod m. `colours` (1 or more) is raised until no neighbours
// share a colour, and lowered to the number of levels, which is RCM alone; colours() says the final m.
Colouring cm_rcm(const CrsMatrix& matrix, int colours);

// Each row in turn takes the first colour that no neighbour has.
Colouring greedy_colouring(const CrsMatrix& matrix);

} // namespace kumihimo::sparse
