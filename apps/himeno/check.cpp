#include "himeno/check.hpp"

#include "stencil/himeno/variants.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace kumihimo::himeno {
namespace {

// Visits the rank's cells in order.
template <class Visit>
void for_each_cell(const Triple& cells, Visit visit) {
  for (std::int64_t i = 0; i < cells[0]; ++i)
    for (std::int64_t j = 0; j < cells[1]; ++j)
      for (std::int64_t k = 0; k < cells[2]; ++k) visit(i, j, k);
}

// The cells that the rank's depend on; `before`: how many of them stand before the rank's.
GridShape cone_of(const GridShape& shape, std::int64_t sweeps, Triple& before) {
  GridShape wide = shape;
  wide.layers = 1;
  for (std::size_t a = 0; a < 3; ++a) {
    before[a] = std::min(sweeps, shape.first[a]);
    const std::int64_t end = shape.first[a] + shape.cells[a], behind = std::min(sweeps, shape.points[a] - 2 - end);
    wide.first[a] = shape.first[a] - before[a];
    wide.cells[a] = before[a] + shape.cells[a] + behind;
  }
  return wide;
}

} // namespace

double bytes_of_expected(const GridShape& shape, std::int64_t sweeps) {
  Triple before{};
  const Triple& cells = shape.cells;
  return HimenoGrid::bytes(cone_of(shape, sweeps, before)) + 4.0 * static_cast<double>(cells[0] * cells[1] * cells[2]);
}

Result<ExpectedPressure> expected_of(const GridShape& shape, std::int64_t sweeps) {
  Triple before{};
  const GridShape wide = cone_of(shape, sweeps, before);
  HimenoGrid grid = TRY(HimenoGrid::make(wide));
  std::vector<double> rows(static_cast<std::size_t>(grid.rows()));
  const HimenoBox own{before, {before[0] + shape.cells[0], before[1] + shape.cells[1], before[2] + shape.cells[2]}};
  ExpectedPressure expected;
  for (std::int64_t s = 0; s < sweeps; ++s) {
    if (s + 1 == sweeps) { // the last sweep needs the rank's cells alone, and gosa is theirs
      golden::sweep(grid, own, rows.data());
      expected.gosa = std::accumulate(rows.begin(), rows.end(), 0.0);
    } else {
      golden::sweep(grid, grid.all(), rows.data());
      std::fill(rows.begin(), rows.end(), 0.0);
    }
    golden::finish(grid);
  }
  expected.p.reserve(static_cast<std::size_t>(shape.cells[0] * shape.cells[1] * shape.cells[2]));
  for_each_cell(shape.cells, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    expected.p.push_back(grid.p[grid.at(before[0] + i, before[1] + j, before[2] + k)]);
  });
  return expected;
}

nlohmann::json check(const HimenoGrid& grid, double gosa, const ExpectedPressure& expected,
                     application::Runtime& runtime) {
  double different = 0;
  auto next = expected.p.begin();
  for_each_cell(grid.shape().cells, [&](std::int64_t i, std::int64_t j, std::int64_t k) {
    different += grid.p[grid.at(i, j, k)] != *next++;
  });
  const auto cells = static_cast<double>(grid.all().cells());
  const std::vector<double> total = runtime.processes().total({different, expected.gosa, cells});
  const double error = total[1] > 0 ? std::abs(gosa - total[1]) / total[1] : std::abs(gosa);
  const double bound = 2 * total[2] * std::numeric_limits<double>::epsilon();
  return {{"what", "p bit by bit, and gosa, by the golden copy"},
          {"right", total[0] == 0 && error <= bound},
          {"error", error},
          {"bound", bound},
          {"different_cells", total[0]}};
}

} // namespace kumihimo::himeno
