#include "fft3d/check.hpp"

#include "fft/golden.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

namespace kumihimo::fft3d {
namespace {

using application::Runtime;
using fft::Complex, fft::PointBox, fft::TransformDirection, fft::Triple;

constexpr double most_for_golden = 1 << 18;
constexpr int frequencies = 8;
constexpr double float_rounding = 0x1p-24;

double largest_of(Runtime& runtime, double mine) { return runtime.processes().largest({mine})[0]; }

// NaN compares with nothing: it is an error without end.
double size_of(const Complex& difference) {
  const double size = std::abs(difference);
  return std::isnan(size) ? std::numeric_limits<double>::infinity() : size;
}

// The points of a box of the golden copy's transforms of whole grids, which value(band, x, y, z) fills.
template <class Value>
double error_by_golden(const FftProblem& problem, const PointBox& box, TransformDirection direction, const Grid& found,
                       Value value) {
  const Triple& n = problem.pencils.points;
  double error = 0;
  const Complex* next = found.data();
  std::vector<Complex> expected(static_cast<std::size_t>(problem.points()));
  for (std::int64_t band = 0; band < problem.bands; ++band) {
    auto point = expected.begin();
    for (std::int64_t x = 0; x < n[0]; ++x)
      for (std::int64_t y = 0; y < n[1]; ++y)
        for (std::int64_t z = 0; z < n[2]; ++z) *point++ = value(band, x, y, z);
    fft::golden::transform_of_any_size(n, direction, expected.data());
    for (std::int64_t x = box.begin[0]; x < box.end[0]; ++x)
      for (std::int64_t y = box.begin[1]; y < box.end[1]; ++y)
        for (std::int64_t z = box.begin[2]; z < box.end[2]; ++z)
          error = std::max(error, size_of(*next++ - expected[static_cast<std::size_t>((x * n[1] + y) * n[2] + z)]));
  }
  return error;
}

// Places all over the grid and the bands: multiples of odd numbers.
Triple place_number(const Triple& points, int number) {
  return {number * 97 % points[0], number * 61 % points[1], (number * 89 + 1) % points[2]};
}

// `mine(k, band)`: this rank's part of the sum that defines a point of `box`.
template <class Part>
double error_by_sums(const FftProblem& problem, const PointBox& box, const Grid& found, Runtime& runtime, Part mine) {
  double error = 0;
  for (int number = 0; number < frequencies; ++number) {
    const Triple k = place_number(problem.spectrum().points, number);
    const std::int64_t band = number % problem.bands;
    const Complex part = mine(k, band);
    const std::vector<double> expected = runtime.processes().total({part.real(), part.imag()});
    const PointBox only{k, {k[0] + 1, k[1] + 1, k[2] + 1}};
    if (fft::common_box(only, box) != only) continue;
    const std::int64_t place =
        ((k[0] - box.begin[0]) * box.length(1) + k[1] - box.begin[1]) * box.length(2) + k[2] - box.begin[2];
    error = std::max(error, size_of(found[band * box.points() + place] - Complex(expected[0], expected[1])));
  }
  return error;
}

// Of the column at each x and y; -1: none.
std::vector<std::int64_t> reaches_of(const fft::Sphere& sphere) {
  const Triple& n = sphere.points;
  std::vector<std::int64_t> reaches(static_cast<std::size_t>(n[0] * n[1]), -1);
  for (const fft::WaveColumn& column : sphere.columns)
    reaches[static_cast<std::size_t>(column.x * n[1] + column.y)] = column.reach;
  return reaches;
}

double squares_of(const Grid& grid) {
  double sum = 0;
  for (const Complex& each : grid) sum += std::norm(each);
  return sum;
}

// Of whole spectra, of which `half` has the frequencies 0 to nz / 2 along z: frequency -k has the square of k.
double squares_of_half(const Grid& half, const PointBox& box, std::int64_t nz) {
  double sum = 0;
  for (std::int64_t place = 0; place < half.size(); ++place) {
    const std::int64_t z = box.begin[2] + place % box.length(2);
    sum += std::norm(half[place]) * (z == 0 || 2 * z == nz ? 1 : 2);
  }
  return sum;
}

// What the transform of `given` values with the squares `before` must satisfy; errors of this rank.
struct FoundErrors {
  double transformed = 0, back = 0;
  double squares_of_back = 0; // of all its errors
  double squares_before = 0, squares_after = 0;
  double given = 1; // values of all ranks and bands

  void add_back(const Complex& difference) {
    const double size = size_of(difference);
    back = std::max(back, size);
    squares_of_back += size * size;
  }
};

nlohmann::json verdict(const FftProblem& problem, const FoundErrors& found, const char* what, Runtime& runtime,
                       int rounded) {
  const std::vector<double> totals =
      runtime.processes().total({found.squares_before, found.squares_after, found.squares_of_back});
  const double points = problem.points(), rms = std::sqrt(totals[0] / found.given);
  const double rms_after = std::sqrt(totals[0] / static_cast<double>(problem.bands));
  const double error =
      std::max(largest_of(runtime, found.transformed) / rms_after, largest_of(runtime, found.back) / rms);
  const double rms_error = std::sqrt(totals[2] / totals[0]);
  const double of_floats = rounded * float_rounding,
               by_chance = std::sqrt((problem.is_real() ? 4 : 2) * std::log(4e6 * found.given));
  const double of_doubles = 1e-14 * std::max(1.0, std::log2(points)), bound = of_doubles + of_floats * by_chance;
  const double rms_bound = of_doubles + of_floats;
  const double parseval = std::abs(totals[1] / (totals[0] * points) - 1);
  const double bound_of_squares =
      points * static_cast<double>(problem.bands) * std::numeric_limits<double>::epsilon() + of_doubles + 2 * of_floats;
  return {{"what", what},           {"right", error <= bound && rms_error <= rms_bound && parseval <= bound_of_squares},
          {"error", error},         {"bound", bound},
          {"rms_error", rms_error}, {"rms_bound", rms_bound},
          {"parseval", parseval}};
}

// `Back`: Grid, or Reals.
template <class Back>
nlohmann::json check_grid(const FftProblem& problem, const Grid& spectrum, const Back& back, Runtime& runtime,
                          int rounded) {
  const Triple& n = problem.pencils.points;
  const PointBox given = problem.pencils.box(2, runtime.rank()), box = problem.spectrum().box(0, runtime.rank());
  const double points = problem.points();
  FoundErrors errors;
  errors.given = points * static_cast<double>(problem.bands);
  errors.squares_after = problem.is_real() ? squares_of_half(spectrum, box, n[2]) : squares_of(spectrum);
  const auto* found = back.data();
  for (std::int64_t band = 0; band < problem.bands; ++band)
    for (std::int64_t x = given.begin[0]; x < given.end[0]; ++x)
      for (std::int64_t y = given.begin[1]; y < given.end[1]; ++y)
        for (std::int64_t z = given.begin[2]; z < given.end[2]; ++z) {
          const Complex value = value_at(problem, band, x, y, z);
          errors.squares_before += std::norm(value);
          errors.add_back(*found++ / points - value);
        }
  if (points <= most_for_golden) {
    errors.transformed = error_by_golden(problem, box, TransformDirection::forward, spectrum,
                                         [&](std::int64_t band, std::int64_t x, std::int64_t y, std::int64_t z) {
                                           return value_at(problem, band, x, y, z);
                                         });
    return verdict(problem, errors, "the spectrum by the golden copy, back to the values, and Parseval", runtime,
                   rounded);
  }
  std::vector<Complex> row(static_cast<std::size_t>(n[2]));
  errors.transformed = error_by_sums(problem, box, spectrum, runtime, [&](const Triple& k, std::int64_t band) {
    return fft::golden::frequency(n, given, k, TransformDirection::forward, [&](std::int64_t x, std::int64_t y) {
      for (std::int64_t z = 0; z < n[2]; ++z) row[static_cast<std::size_t>(z)] = value_at(problem, band, x, y, z);
      return row.data();
    });
  });
  return verdict(problem, errors, "8 frequencies by their definition, back to the values, and Parseval", runtime,
                 rounded);
}

} // namespace

nlohmann::json check(const FftProblem& problem, const Grid& spectrum, const Grid& back, Runtime& runtime, int rounded) {
  return check_grid(problem, spectrum, back, runtime, rounded);
}

nlohmann::json check(const FftProblem& problem, const Grid& spectrum, const Reals& back, Runtime& runtime,
                     int rounded) {
  return check_grid(problem, spectrum, back, runtime, rounded);
}

nlohmann::json check_sphere(const FftProblem& problem, std::span<const std::int32_t> columns, const PointBox& box,
                            const Grid& grid, const Grid& back, Runtime& runtime, int rounded) {
  const Triple& n = problem.pencils.points;
  const fft::Sphere& sphere = *problem.sphere;
  const auto reach_at = [&, reaches = reaches_of(sphere)](std::int64_t x, std::int64_t y) {
    return reaches[static_cast<std::size_t>(x * n[1] + y)];
  };
  FoundErrors errors;
  errors.given = static_cast<double>(sphere.coefficients() * problem.bands);
  errors.squares_after = squares_of(grid);
  const Complex* found = back.data();
  for (std::int64_t band = 0; band < problem.bands; ++band)
    for (const std::int32_t number : columns) {
      const fft::WaveColumn& column = sphere.columns[static_cast<std::size_t>(number)];
      for (std::int64_t k = -column.reach; k <= column.reach; ++k) {
        const Complex value = value_at(problem, band, column.x, column.y, fft::place_of(k, n[2]));
        errors.squares_before += std::norm(value);
        errors.add_back(*found++ / problem.points() - value);
      }
    }
  const auto value = [&](std::int64_t band, std::int64_t x, std::int64_t y, std::int64_t z) {
    const std::int64_t reach = reach_at(x, y);
    return z <= reach || (reach >= 0 && z >= n[2] - reach) ? value_at(problem, band, x, y, z) : Complex(0);
  };
  if (problem.points() <= most_for_golden) {
    errors.transformed = error_by_golden(problem, box, TransformDirection::backward, grid, value);
    return verdict(problem, errors, "the grid by the golden copy, back to the coefficients, and Parseval", runtime,
                   rounded);
  }
  std::array<std::vector<Complex>, 3> roots;
  for (std::size_t axis = 0; axis < 3; ++axis)
    roots[axis] = fft::golden::roots_of_unity(n[axis], TransformDirection::backward);
  const auto root = [&](std::size_t axis, std::int64_t product) {
    return roots[axis][static_cast<std::size_t>(product % n[axis])];
  };
  errors.transformed = error_by_sums(problem, box, grid, runtime, [&](const Triple& r, std::int64_t band) {
    std::complex<long double> sum = 0;
    for (const std::int32_t number : columns) {
      const fft::WaveColumn& column = sphere.columns[static_cast<std::size_t>(number)];
      Complex of_column = 0;
      for (std::int64_t k = -column.reach; k <= column.reach; ++k) {
        const std::int64_t z = fft::place_of(k, n[2]);
        of_column += value_at(problem, band, column.x, column.y, z) * root(2, z * r[2]);
      }
      sum += std::complex<long double>(of_column * root(0, column.x * r[0]) * root(1, column.y * r[1]));
    }
    return Complex(static_cast<double>(sum.real()), static_cast<double>(sum.imag()));
  });
  return verdict(problem, errors, "8 points by their definition, back to the coefficients, and Parseval", runtime,
                 rounded);
}

} // namespace kumihimo::fft3d
