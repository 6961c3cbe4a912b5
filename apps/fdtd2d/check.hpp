// The check against the golden copy and theory.
#pragma once

#include "application/runtime.hpp"
#include "fdtd2d/problem.hpp"

#include <nlohmann/json_fwd.hpp>

#include <vector>

namespace kumihimo::fdtd2d {

// By the golden copy, on one rank.
template <class T>
struct ExpectedFields {
  std::vector<T> ez; // of all nodes, x fastest
  double analytic_error = 0, reflection = 0;
};
// Error: there is not enough memory.
template <class T>
Result<ExpectedFields<T>> expected_of(const WaveProblem& problem);

// Every Ez must have the golden copy's bits. The golden copy must be right too: a mode must follow the dispersion
// relation of the grid within rounding; of the source problem, the field in free space and the layer's reflection are
// compared on grids of their own (physics.hpp), the reflection where the layer has 10 cells or more. Collective.
template <class T>
nlohmann::json check(const WaveProblem& problem, const Fields<T>& fields, const ExpectedFields<T>& expected,
                     application::Runtime& runtime);

inline constexpr double analytic_bound = 0.04, reflection_bound = 1e-3; // -60 dB
// Of the rounding of a mode after so many steps: a rounding of H goes on like a velocity, 1 / sin(omega S / 2) steps.
double mode_bound(const WaveProblem& problem);

} // namespace kumihimo::fdtd2d
