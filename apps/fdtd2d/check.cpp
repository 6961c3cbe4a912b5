#include "fdtd2d/check.hpp"

#include "fdtd2d/local_fields.hpp"
#include "fdtd2d/physics.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace kumihimo::fdtd2d {
namespace {

// Of the standing wave, by the dispersion relation of the grid.
double amplitude_of(const WaveProblem& problem) {
  return std::cos(frequencies_of(problem.whole, problem.mode).of_grid * problem.whole.courant *
                  static_cast<double>(problem.steps));
}

template <class T>
double deviation_from_mode(const WaveProblem& problem, const Fields<T>& f) {
  const FieldShape& s = f.shape();
  const double amplitude = amplitude_of(problem), kx = M_PI * problem.mode.p / static_cast<double>(s.points[0]),
               ky = M_PI * problem.mode.q / static_cast<double>(s.points[1]);
  double largest = 0;
  for (std::int64_t y = 0; y < s.cells[1]; ++y)
    for (std::int64_t x = 0; x < s.cells[0]; ++x) {
      const double exact = amplitude * std::sin(kx * static_cast<double>(s.first[0] + x)) *
                           std::sin(ky * static_cast<double>(s.first[1] + y));
      largest = std::max(largest, std::abs(static_cast<double>(f.ez[f.at(x, y)]) - exact));
    }
  return largest;
}

} // namespace

double mode_bound(const WaveProblem& problem) {
  const double epsilon =
      problem.is_float32 ? std::numeric_limits<float>::epsilon() : std::numeric_limits<double>::epsilon();
  const double w = frequencies_of(problem.whole, problem.mode).of_grid * problem.whole.courant;
  return epsilon * static_cast<double>(problem.steps + 1) * (1 + 1 / std::sin(w / 2));
}

template <class T>
Result<ExpectedFields<T>> expected_of(const WaveProblem& problem) {
  Fields<T> f = TRY(Fields<T>::make(problem.whole));
  if (problem.is_mode) set_mode(f, problem.mode);
  const NodeBox e = nodes_of_e(problem.whole), h = places_of_h(e);
  for (std::int64_t s = 0; s < problem.steps; ++s) {
    golden::update_h(f, h);
    golden::update_e(f, e);
    if (!problem.is_mode)
      f.ez[f.at(problem.source.node[0], problem.source.node[1])] +=
          static_cast<T>(problem.source.added(s, problem.whole.courant));
  }
  ExpectedFields<T> expected;
  for (std::int64_t y = 0; y < problem.whole.points[1]; ++y)
    expected.ez.insert(expected.ez.end(), f.ez + f.at(0, y), f.ez + f.at(problem.whole.points[0], y));
  if (problem.is_mode) return expected;
  const FieldShape& whole = problem.whole;
  expected.analytic_error = TRY(analytic_error(std::clamp<std::int64_t>(whole.layer, 10, 20), whole.courant));
  expected.reflection = TRY(reflection(std::min<std::int64_t>(whole.layer, 40), whole.courant));
  return expected;
}

template <class T>
nlohmann::json check(const WaveProblem& problem, const Fields<T>& f, const ExpectedFields<T>& expected,
                     application::Runtime& runtime) {
  const FieldShape& s = f.shape();
  double different = 0;
  for (std::int64_t y = 0; y < s.cells[1]; ++y)
    for (std::int64_t x = 0; x < s.cells[0]; ++x)
      different +=
          f.ez[f.at(x, y)] != expected.ez[static_cast<std::size_t>((s.first[1] + y) * s.points[0] + s.first[0] + x)];
  different = runtime.processes().total({different})[0];
  nlohmann::json found = {{"different_nodes", different}};
  bool right = different == 0;
  if (problem.is_mode) {
    const double error = runtime.processes().largest({deviation_from_mode(problem, f)})[0];
    const double bound = mode_bound(problem);
    if (bound < 0.1 * amplitude_of(problem)) {
      found.update({{"what", "Ez bit by bit by the golden copy, and the dispersion relation of the grid"},
                    {"error", error},
                    {"bound", bound}});
      right = right && error <= bound;
    } else {
      found.update({{"what", "Ez bit by bit by the golden copy; rounding over so many steps hides the dispersion "
                             "relation of the grid"},
                    {"error", different},
                    {"bound", 0.0}});
    }
  } else {
    found.update({{"what", "Ez bit by bit by the golden copy; that by the field in free space and the reflection"},
                  {"error", expected.analytic_error},
                  {"bound", analytic_bound},
                  {"reflection", expected.reflection},
                  {"reflection_db", 20 * std::log10(expected.reflection)}});
    right = right && expected.analytic_error <= analytic_bound;
    if (problem.whole.layer >= 10) {
      found["reflection_bound"] = reflection_bound;
      right = right && expected.reflection <= reflection_bound;
    }
  }
  found["right"] = right;
  return found;
}

template Result<ExpectedFields<float>> expected_of(const WaveProblem&);
template Result<ExpectedFields<double>> expected_of(const WaveProblem&);
template nlohmann::json check(const WaveProblem&, const Fields<float>&, const ExpectedFields<float>&,
                              application::Runtime&);
template nlohmann::json check(const WaveProblem&, const Fields<double>&, const ExpectedFields<double>&,
                              application::Runtime&);

} // namespace kumihimo::fdtd2d
