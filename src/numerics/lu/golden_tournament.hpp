// The golden copy of a factorisation with tournament pivoting by a tree: plain loops in one thread (L. Grigori, J.
// Demmel, H. Xiang, CALU, SIAM J. Matrix Anal. Appl. 32, 2011).
#pragma once

#include "lu/block_cyclic.hpp"
#include "lu/golden.hpp"

namespace kumihimo::lu::golden {

// Panels of `block` columns. The rows of a panel are leaves of `leaf_rows`. In a leaf the best rows meet the next 4
// `block` rows until all have played; then the best of neighbouring leaves meet, level by level, and an odd one goes
// on. The best rows are those that row pivoting of the ones that meet would choose. Blocks of rows go round `parts`
// processes, each of which has a tree of its own rows. Then the best of processes meet: where their number is no power
// of two, the first neighbours until it is one; then neighbours, level by level. Errors: those of factor().
Result<Factors> factor_by_tournament(std::vector<double> matrix, std::int64_t n, std::int64_t block,
                                     std::int64_t leaf_rows, std::int32_t parts = 1);

// Of the columns first .. first + width - 1 of a matrix in the course of its factorisation, whose rows from `first` on
// play: row first + k is to be exchanged with element k, in the order of k.
std::vector<std::int64_t> pivots_of_panel(const Factors& factors, std::int64_t first, std::int64_t width,
                                          std::int64_t leaf_rows, const BlockCyclic& rows);

} // namespace kumihimo::lu::golden
