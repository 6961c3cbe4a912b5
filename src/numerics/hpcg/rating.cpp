#include "hpcg/rating.hpp"

namespace kumihimo::hpcg {

Operations operations(const HpcgGrid& grid, double sets, double iterations) {
  const double all = sets * iterations, rows = static_cast<double>(grid.rows());
  const double entries = static_cast<double>(grid.nonzeros());
  Operations made;
  made.dot = made.update = (3 * all + sets) * 2 * rows; // one more of each before the first iteration
  made.product = (all + sets) * 2 * entries;
  HpcgGrid level = grid;
  for (int i = 0; i + 1 < level_count; ++i, level = level.coarse())
    made.preconditioner += all * (4 + 2 + 4) * static_cast<double>(level.nonzeros()); // smoother, residual, smoother
  made.preconditioner += all * 4 * static_cast<double>(level.nonzeros());
  return made;
}

double rating(const HpcgGrid& grid, double sets, double iterations, const HpcgTimes& times) {
  const double counted = operations(grid, sets, iterations).total() * reference_iterations / iterations;
  return counted / (times.sets + sets * (times.optimisation + times.set_up) / 10) * 1e-9;
}

} // namespace kumihimo::hpcg
