#include "fft3d/check.hpp"

#include "fft/golden.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace kumihimo::fft3d {
namespace {

using application::Runtime;
using fft::Complex, fft::PointBox, fft::Triple;

constexpr double most_for_golden = 1 << 15;
constexpr int frequencies = 8;

double largest_of(Runtime& runtime, double mine) { return runtime.processes().largest({mine})[0]; }

// NaN compares with nothing: it must be an error.
double larger(double a, double b) { return b <= a ? a : b; }
double size_of(const Complex& difference) {
  const double size = std::abs(difference);
  return std::isnan(size) ? std::numeric_limits<double>::infinity() : size;
}

std::vector<Complex> whole_spectrum(const FftProblem& problem, std::int64_t band) {
  const Triple& n = problem.pencils.points;
  std::vector<Complex> grid;
  for (std::int64_t x = 0; x < n[0]; ++x)
    for (std::int64_t y = 0; y < n[1]; ++y)
      for (std::int64_t z = 0; z < n[2]; ++z) grid.push_back(value_at(n, band, x, y, z));
  fft::golden::transform(n, fft::TransformDirection::forward, grid.data());
  return grid;
}

double error_by_golden(const FftProblem& problem, const PointBox& box, const Grid& spectrum) {
  const Triple& n = problem.pencils.points;
  double error = 0;
  const Complex* found = spectrum.data();
  for (std::int64_t band = 0; band < problem.bands; ++band) {
    const std::vector<Complex> expected = whole_spectrum(problem, band);
    for (std::int64_t x = box.begin[0]; x < box.end[0]; ++x)
      for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y)
        for (std::int64_t z = box.begin[2]; z < box.end[2]; ++z)
          error = larger(error, size_of(*found++ - expected[static_cast<std::size_t>((x * n[1] + y) * n[2] + z)]));
  }
  return error;
}

// Frequencies all over the grid and the bands: multiples of odd numbers.
Triple frequency_of(const Triple& points, int number) {
  return {number * 97 % points[0], number * 61 % points[1], (number * 89 + 1) % points[2]};
}

Result<double> error_by_frequencies(const FftProblem& problem, const Grid& spectrum, Runtime& runtime) {
  const Triple& n = problem.pencils.points;
  const PointBox given = problem.pencils.box(2, runtime.rank()), box = problem.pencils.box(0, runtime.rank());
  std::vector<Complex> row(static_cast<std::size_t>(n[2]));
  double error = 0;
  for (int number = 0; number < frequencies; ++number) {
    const Triple k = frequency_of(n, number);
    const std::int64_t band = number % problem.bands;
    const Complex mine =
        fft::golden::frequency(n, given, k, fft::TransformDirection::forward, [&](std::int64_t x, std::int64_t y) {
          for (std::int64_t z = 0; z < n[2]; ++z) row[static_cast<std::size_t>(z)] = value_at(n, band, x, y, z);
          return row.data();
        });
    const std::vector<double> expected = runtime.processes().total({mine.real(), mine.imag()});
    PointBox only{k, {k[0] + 1, k[1] + 1, k[2] + 1}};
    if (fft::common_box(only, box) != only) continue;
    const std::int64_t place =
        ((k[0] - box.begin[0]) * box.length(1) + k[1] - box.begin[1]) * box.length(2) + k[2] - box.begin[2];
    error = larger(error, size_of(spectrum[band * box.points() + place] - Complex(expected[0], expected[1])));
  }
  return error;
}

} // namespace

nlohmann::json check(const FftProblem& problem, const Grid& spectrum, const Grid& back, Runtime& runtime) {
  const Triple& n = problem.pencils.points;
  const PointBox given = problem.pencils.box(2, runtime.rank()), box = problem.pencils.box(0, runtime.rank());
  const double points = problem.points();
  double squares = 0, squares_of_spectrum = 0, there_and_back = 0;
  const Complex* found = back.data();
  for (std::int64_t band = 0; band < problem.bands; ++band)
    for (std::int64_t x = given.begin[0]; x < given.end[0]; ++x)
      for (std::int64_t y = given.begin[1]; y < given.end[1]; ++y)
        for (std::int64_t z = given.begin[2]; z < given.end[2]; ++z) {
          const Complex value = value_at(n, band, x, y, z);
          squares += std::norm(value);
          there_and_back = larger(there_and_back, size_of(*found++ / points - value));
        }
  for (const Complex& each : spectrum) squares_of_spectrum += std::norm(each);
  const std::vector<double> totals = runtime.processes().total({squares, squares_of_spectrum});
  const double all = points * static_cast<double>(problem.bands), rms = std::sqrt(totals[0] / all);

  const bool by_golden = points <= most_for_golden;
  const double of_spectrum =
      by_golden ? error_by_golden(problem, box, spectrum) : *error_by_frequencies(problem, spectrum, runtime);
  const double error =
      larger(largest_of(runtime, of_spectrum) / (rms * std::sqrt(points)), largest_of(runtime, there_and_back) / rms);
  const double bound = 1e-14 * std::max(1.0, std::log2(points));
  const double parseval = std::abs(totals[1] / (totals[0] * points) - 1);
  const double bound_of_squares = all * std::numeric_limits<double>::epsilon() + bound;
  const char* const what = by_golden ? "the spectrum by the golden copy, back to the values, and Parseval"
                                     : "8 frequencies by their definition, back to the values, and Parseval";
  return {{"what", what},
          {"right", error <= bound && parseval <= bound_of_squares},
          {"error", error},
          {"bound", bound},
          {"parseval", parseval}};
}

} // namespace kumihimo::fft3d
