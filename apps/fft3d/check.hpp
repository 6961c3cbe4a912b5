// The check of a transform: by the golden copy, and by what every transform must satisfy.
#pragma once

#include "application/runtime.hpp"
#include "fft3d/problem.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>

namespace kumihimo::fft3d {

// `spectrum`: of the rank's values, with lines along x; `back`: transformed back, with lines along z.
//   - Of grids of at most 2^15 points each rank has the whole spectrum by the sum that defines it, and of at most 2^18
//     points by a serial transform by factors; of larger ones 8 frequencies by the sum that defines them.
//   - back must be the values times the number of points.
//   - Parseval: the squares of the spectrum must sum to those of the values times the number of points.
// An error is relative to the root of the mean square of what is expected. The bound for the first two is 1e-14
// log2(N): the root mean square of rounding grows as the root of log2(N) (J. Schatzman, SIAM J. Sci. Comput. 17 (1996)
// 1150). Parseval's sums of N squares may differ by N roundings more. Of real grids `back` is reals, and the squares of
// the half that the spectrum leaves out are counted.
//
// `rounded`: how often all points are rounded to floats, there and back; each time a number changes by at most u =
// 2^-24 of itself. The rest of a transform multiplies the root of the mean square of such changes and of the values
// alike, so that of the errors is at most u `rounded`, which back must meet, too. A point gets a sum of changes:
// independent ones of mean 0 exceed u t times the root of their squares' sum with a probability of at most 4
// exp(-t^2/2) (W. Hoeffding, J. Am. Stat. Assoc. 58 (1963) 13). t = sqrt(2 ln(4e6 N)) makes that 1e-6 for all points
// together; the bound of the largest error grows by u t `rounded`, and Parseval's by 2 u `rounded`. Of real grids
// frequencies k and -k change alike, and t is sqrt(2) times that. Collective.
nlohmann::json check(const FftProblem& problem, const Grid& spectrum, const Grid& back, application::Runtime& runtime,
                     int rounded = 0);
nlohmann::json check(const FftProblem& problem, const Grid& spectrum, const Reals& back, application::Runtime& runtime,
                     int rounded = 0);

// The same of a sphere: `grid` is the rank's part (all x and y) of the sums over coefficients, `back` the coefficients
// of its columns. Of larger grids 8 points by the sum over all coefficients.
nlohmann::json check_sphere(const FftProblem& problem, std::span<const std::int32_t> columns, const fft::PointBox& box,
                            const Grid& grid, const Grid& back, application::Runtime& runtime, int rounded = 0);

} // namespace kumihimo::fft3d
