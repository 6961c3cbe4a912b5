#include "stencil/fdtd2d/row.hpp"

namespace kumihimo::fdtd2d {

std::span<const RowSet* const> row_sets() {
#if defined(__x86_64__)
  static const RowSet* const sets[] = {&rows_baseline, &rows_avx2, &rows_avx512};
  if (!__builtin_cpu_supports("avx2")) return {sets, 1};
  if (!__builtin_cpu_supports("avx512f")) return {sets, 2};
#else
  static const RowSet* const sets[] = {&rows_baseline};
#endif
  return sets;
}

} // namespace kumihimo::fdtd2d
