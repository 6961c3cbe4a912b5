// Factorisation of a panel: some columns of the matrix from the diagonal block down, whose rows the processes of one
// column of the grid share. Every process ends with the same diagonal block, in memory of its own.
#pragma once

#include "base/result.hpp"
#include "blas/blas.hpp"
#include "lu/block_cyclic.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kumihimo::lu {

// What the processes of a column know of each other. Collective.
class ColumnOfProcesses {
 public:
  virtual ~ColumnOfProcesses() = default;
  // Combines the records of all processes, in the order of the processes, by combine_pivots(): all get the same.
  virtual Status combine_pivots(std::span<double> record) = 0;
  // The same by combine_candidates().
  virtual Status combine_candidates(std::span<double> record) = 0;
};

// One process's part of a panel.
struct PanelPart {
  double* a = nullptr; // its rows from the diagonal block on, by columns
  std::int64_t leading = 1, rows = 0;
  std::int64_t width = 0;          // columns
  std::int64_t first = 0;          // row and column of the diagonal block's first entry in the matrix
  bool has_diagonal_block = false; // then it is the first `width` rows of a
  BlockCyclic all_rows;            // of the matrix over the column, of which this process is part `process`
  std::int32_t process = 0;
  double* top = nullptr; // width x width: L and U of the diagonal block

  std::int64_t row_of(std::int64_t i) const { // in the matrix
    return all_rows.global(process, all_rows.count(process, first) + i);
  }
};

// A column of the matrix in which no entry can be divided by: 0, too small, or beyond the largest double. The entries
// that the factorisation began with were numbers (check_column), so one that is none here comes of an overflow.
struct MissingPivot {
  std::int64_t column = 0;
  double value = 0;
  Error error() const;
};
bool is_pivot(double value);

struct PanelPivots {
  std::vector<std::int64_t> rows; // exchanged with rows first, first + 1, ...
  std::optional<MissingPivot> missing;
};

// Row pivoting, recursively by halves (S. Toledo, SIAM J. Matrix Anal. Appl. 18, 1997; HPL's panels). Rows of a below
// the diagonal block become those of L; rows of the diagonal block lose their meaning: `top` has them. All processes
// miss the same pivot. Errors: those of the exchange.
Result<PanelPivots> factor_panel(const PanelPart& part, const blas::Blas& blas, ColumnOfProcesses& column);

// Tournament pivoting (L. Grigori, J. Demmel, H. Xiang, SIAM J. Matrix Anal. Appl. 32, 2011): the rows to be exchanged,
// chosen with one exchange. It changes nothing.
Result<std::vector<std::int64_t>> tournament(const PanelPart& part, const blas::Blas& blas, ColumnOfProcesses& column);
// The part's best rows alone, as a record to combine.
void best_candidates(const PanelPart& part, const blas::Blas& blas, double* record);
// After the rows were exchanged, with those of the diagonal block in `top`: factors it without pivoting and makes L of
// the rows below it, `rows` of them at `a`.
std::optional<MissingPivot> factor_chosen(double* top, std::int64_t width, double* a, std::int64_t leading,
                                          std::int64_t rows, std::int64_t first, const blas::Blas& blas);

// --- records that processes combine: left and right are those of lower and higher processes, target may be either

// magnitude of the candidate (-1: none), its row, whether there is a current row; the candidate's entries; the current
// row's, which stands where the pivot will.
constexpr std::int64_t pivot_record(std::int64_t width) { return 3 + 2 * width; }
void combine_pivots(std::int64_t width, const double* left, const double* right, double* target);

// Number of rows; for each its number in the matrix; their entries, by columns of height `width`.
constexpr std::int64_t candidate_record(std::int64_t width) { return 1 + width + width * width; }
std::vector<std::int64_t> rows_of_candidates(const double* record);
void combine_candidates(std::int64_t width, const blas::Blas& blas, const double* left, const double* right,
                        double* target);

// Candidates; then whether there is a diagonal block, and its entries by columns: the rows that the best displace.
constexpr std::int64_t tournament_record(std::int64_t width) { return candidate_record(width) + 1 + width * width; }
inline const double* entries_of_candidates(std::int64_t width, const double* record) { return record + 1 + width; }
inline double* diagonal_block_of(std::int64_t width, double* record) { return record + candidate_record(width) + 1; }
void combine_tournaments(std::int64_t width, const blas::Blas& blas, const double* left, const double* right,
                         double* target);

} // namespace kumihimo::lu
