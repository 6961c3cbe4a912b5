#include "fft/golden.hpp"

#include <cmath>
#include <numbers>

namespace kumihimo::fft::golden {

std::vector<Complex> roots_of_unity(std::int64_t n, TransformDirection direction) {
  std::vector<Complex> roots;
  const long double turn = (direction == TransformDirection::forward ? -2 : 2) * std::numbers::pi_v<long double>;
  for (std::int64_t k = 0; k < n; ++k) {
    const long double angle = turn * static_cast<long double>(k) / static_cast<long double>(n);
    roots.emplace_back(static_cast<double>(std::cos(angle)), static_cast<double>(std::sin(angle)));
  }
  return roots;
}

namespace {

// line(in, stride, n, roots, out) for all lines along each axis in turn; `out` becomes the line.
template <class Line>
void for_each_line(const Triple& points, TransformDirection direction, Complex* grid, Line line) {
  const Triple strides = {points[1] * points[2], points[2], 1};
  std::vector<Complex> out;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t n = points[axis], stride = strides[axis];
    const std::vector<Complex> roots = roots_of_unity(n, direction);
    out.resize(static_cast<std::size_t>(n));
    for (std::int64_t outer = 0; outer < points[0] * points[1] * points[2]; outer += n * stride)
      for (std::int64_t inner = 0; inner < stride; ++inner) {
        Complex* const first = grid + outer + inner;
        line(first, stride, n, roots, out.data());
        for (std::int64_t k = 0; k < n; ++k) first[k * stride] = out[static_cast<std::size_t>(k)];
      }
  }
}

// out[k] = sum over j < n of in[j stride] exp(-+ 2 pi i j k / n) by definition. `roots`: of n or of a multiple of it.
void sum_line(const Complex* in, std::int64_t stride, std::int64_t n, const std::vector<Complex>& roots, Complex* out) {
  const std::int64_t step = static_cast<std::int64_t>(roots.size()) / n;
  for (std::int64_t k = 0; k < n; ++k) {
    Complex sum = 0;
    for (std::int64_t j = 0, power = 0; j < n; ++j, power = (power + k) % n)
      sum += in[j * stride] * roots[static_cast<std::size_t>(power * step)];
    out[k] = sum;
  }
}

std::int64_t least_factor(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) return d;
  return n;
}

// The same: p lines of every p-th point, and then p of their points at a time.
void line_by_factors(const Complex* in, std::int64_t stride, std::int64_t n, const std::vector<Complex>& roots,
                     Complex* out) {
  const std::int64_t p = least_factor(n), m = n / p;
  if (m <= 1) return sum_line(in, stride, n, roots, out);
  for (std::int64_t r = 0; r < p; ++r) line_by_factors(in + r * stride, p * stride, m, roots, out + r * m);
  const std::int64_t step = static_cast<std::int64_t>(roots.size()) / n;
  std::vector<Complex> turned(static_cast<std::size_t>(p)), sums(static_cast<std::size_t>(p));
  for (std::int64_t k = 0; k < m; ++k) {
    for (std::int64_t r = 0; r < p; ++r)
      turned[static_cast<std::size_t>(r)] = out[r * m + k] * roots[static_cast<std::size_t>(r * k * step)];
    sum_line(turned.data(), 1, p, roots, sums.data());
    for (std::int64_t r = 0; r < p; ++r) out[r * m + k] = sums[static_cast<std::size_t>(r)];
  }
}

} // namespace

void transform(const Triple& points, TransformDirection direction, Complex* grid) {
  for_each_line(points, direction, grid, sum_line);
}

void transform_by_factors(const Triple& points, TransformDirection direction, Complex* grid) {
  for_each_line(points, direction, grid, line_by_factors);
}

void transform_of_any_size(const Triple& points, TransformDirection direction, Complex* grid) {
  const bool by_sum = points[0] * points[1] * points[2] <= most_points_of_sum;
  (by_sum ? transform : transform_by_factors)(points, direction, grid);
}

void fill_other_half(const Triple& points, Complex* spectrum) {
  const auto [nx, ny, nz] = points;
  const auto opposite = [](std::int64_t k, std::int64_t n) { return k == 0 ? 0 : n - k; };
  for (std::int64_t x = 0; x < nx; ++x)
    for (std::int64_t y = 0; y < ny; ++y)
      for (std::int64_t z = half_spectrum(nz); z < nz; ++z)
        spectrum[(x * ny + y) * nz + z] = std::conj(spectrum[(opposite(x, nx) * ny + opposite(y, ny)) * nz + nz - z]);
}

Complex frequency(const Triple& points, const PointBox& box, const Triple& k, TransformDirection direction,
                  const std::function<const Complex*(std::int64_t x, std::int64_t y)>& row) {
  std::array<std::vector<Complex>, 3> powers; // of w along each axis, in the box
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::vector<Complex> roots = roots_of_unity(points[axis], direction);
    for (std::int64_t j = box.begin[axis]; j < box.end[axis]; ++j)
      powers[axis].push_back(roots[static_cast<std::size_t>(j * k[axis] % points[axis])]);
  }
  using Long = std::complex<long double>;
  Long sum = 0;
  for (std::int64_t x = 0; x < box.length(0); ++x)
    for (std::int64_t y = 0; y < box.length(1); ++y) {
      const Complex* const values = row(box.begin[0] + x, box.begin[1] + y);
      Complex of_row = 0;
      for (std::int64_t z = 0; z < box.length(2); ++z) of_row += values[z] * powers[2][static_cast<std::size_t>(z)];
      sum += Long(of_row) * Long(powers[1][static_cast<std::size_t>(y)]) * Long(powers[0][static_cast<std::size_t>(x)]);
    }
  return {static_cast<double>(sum.real()), static_cast<double>(sum.imag())};
}

} // namespace kumihimo::fft::golden
