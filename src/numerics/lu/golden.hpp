// The golden copy: LU factorisation with row pivoting of a whole matrix, column by column (G. H. Golub, C. F. Van Loan,
// Matrix Computations, algorithm 3.4.1). Matrices are n x n, stored by columns.
#pragma once

#include "base/result.hpp"
#include "base/state_list.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::lu::golden {

// L (below the diagonal, whose ones are left out) and U in place of the matrix. Row k was exchanged with pivots[k], in
// the order of k: the row with the entry of largest magnitude, of equal ones the first.
struct Factors {
  std::int64_t n = 0;
  std::vector<double> lu;
  std::vector<std::int64_t> pivots;
};
// `at_iteration` is called before each column; its state is all that the later ones depend on. Errors: the matrix is
// singular, or holds no finite number, or entries overflow; those of `at_iteration`.
Result<Factors> factor(std::vector<double> matrix, std::int64_t n, const AtIteration& at_iteration = {});
std::vector<double> solve(const Factors& factors, std::vector<double> b);

} // namespace kumihimo::lu::golden
