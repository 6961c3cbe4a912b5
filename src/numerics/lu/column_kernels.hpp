// Loops over the rows of a narrow panel, stored by columns.
#pragma once

#include <cstdint>

namespace kumihimo::lu {

// The entry of largest magnitude; of equal ones the first, and a NaN before all others. -1: there are no entries.
std::int64_t place_of_largest(const double* x, std::int64_t n);

// x *= factor, then column j of the next `columns`: column_j -= x row[j * row_stride].
void eliminate(double* x, std::int64_t n, double factor, double* next, std::int64_t leading, std::int64_t columns,
               const double* row, std::int64_t row_stride);

} // namespace kumihimo::lu
