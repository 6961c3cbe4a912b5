// Plain pointers for the loops over elements. Files that are compiled for more instructions include no more than this,
// so that no inline function of theirs serves others.
#pragma once

#include <cstdint>

namespace kumihimo::fem {

struct ElementTask {
  const double* coordinates;
  const std::int32_t* nodes;
  const std::int32_t* elements; // by colour
  const double* lambda;
  const double* mu;
  // The matrix; null in products without one.
  const std::int32_t* row_begin;
  const std::int32_t* columns;
  double* values;
};

} // namespace kumihimo::fem
