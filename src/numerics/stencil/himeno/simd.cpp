// Vectorised rows, threads over rows, two arrays that change places.
#include "stencil/himeno/row.hpp"
#include "stencil/himeno/variants.hpp"

#include <utility>

namespace kumihimo::himeno::simd {

void sweep(const HimenoGrid& g, const HimenoBox& box, double* gosa) {
#pragma omp parallel for collapse(2) schedule(static)
  for (std::int64_t i = box.begin[0]; i < box.end[0]; ++i)
    for (std::int64_t j = box.begin[1]; j < box.end[1]; ++j)
      gosa[g.row_number(i, j)] += update_row(g, g.p, g.next, g.at(i, j, box.begin[2]), box.length(2));
}

void finish(HimenoGrid& g) { std::swap(g.p, g.next); }

} // namespace kumihimo::himeno::simd
