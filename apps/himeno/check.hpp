// The check against the golden copy.
#pragma once

#include "application/runtime.hpp"
#include "stencil/himeno/grid.hpp"

#include <nlohmann/json_fwd.hpp>

#include <cstdint>

namespace kumihimo::himeno {

// p of the rank's cells after some sweeps, and the sum of its squared residuals in the last one, by the golden copy.
struct ExpectedPressure {
  std::vector<float> p;
  double gosa = 0;
};
// Each rank computes its cells and those that they depend on, `sweeps` layers around them, from the initial values: no
// communication. Error: there is not enough memory.
Result<ExpectedPressure> expected_of(const GridShape& shape, std::int64_t sweeps);
// Memory that it needs: of many sweeps, the whole grid on each rank.
double bytes_of_expected(const GridShape& shape, std::int64_t sweeps);

// p must have the golden copy's bits. gosa is a sum of n positive numbers in another order: it may differ by n
// roundings on both sides (Higham, Accuracy and Stability of Numerical Algorithms, section 4.2). Collective.
nlohmann::json check(const HimenoGrid& grid, double gosa, const ExpectedPressure& expected,
                     application::Runtime& runtime);

} // namespace kumihimo::himeno
