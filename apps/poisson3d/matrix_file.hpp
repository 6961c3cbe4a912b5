// A symmetric positive definite matrix from a Matrix Market file as the problem of a rank: rows in contiguous parts, in
// the order of the file.
#pragma once

#include "poisson3d/box_matrix.hpp"

#include <string>

namespace kumihimo::poisson3d {

// The part of a rank: rows threads::part(rows, rank, ranks), ghosts by ascending owner and row. The right-hand side is
// 1 in each row. Error: fewer rows than ranks.
Result<LocalProblem> part_of(const sparse::CrsMatrix& whole, std::int32_t rank, std::int32_t ranks);
// Reads the file on this rank. Errors begin with the path.
Result<LocalProblem> read_problem(const std::string& path, std::int32_t rank, std::int32_t ranks);

} // namespace kumihimo::poisson3d
