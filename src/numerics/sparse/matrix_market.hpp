// Matrix Market exchange files (R. F. Boisvert, R. Pozo, K. Remington, NISTIR 5935, 1996): coordinate matrices and
// arrays of real, integer or pattern values, general or symmetric. Of a symmetric file one triangle is given. Entries
// at the same place are added, as finite elements write them; a pattern may name a place more than once.
#pragma once

#include "sparse/crs_matrix.hpp"

#include <string>
#include <string_view>

namespace kumihimo::sparse {

// A matrix that check_symmetric_positive() accepts, without zeros off the diagonal. An entry of a pattern file is 1.
// Error: the first wrong line, with its number ("line 7: ..."), or what is wrong with the matrix.
Result<CrsMatrix> parse_matrix_market(std::string_view text);
Result<CrsMatrix> read_matrix_market(const std::string& path); // errors begin with the path
// A symmetric coordinate file of the lower triangle; reading it gives the same bits, without zeros off the diagonal.
// Error: the file cannot be written; an old one stays.
Status write_matrix_market(const CrsMatrix& matrix, const std::string& path);

} // namespace kumihimo::sparse
