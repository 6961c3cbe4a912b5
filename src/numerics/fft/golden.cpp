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

void transform(const Triple& points, TransformDirection direction, Complex* grid) {
  const Triple strides = {points[1] * points[2], points[2], 1};
  std::vector<Complex> line;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t n = points[axis], stride = strides[axis];
    const std::vector<Complex> roots = roots_of_unity(n, direction);
    line.resize(static_cast<std::size_t>(n));
    for (std::int64_t outer = 0; outer < points[0] * points[1] * points[2]; outer += n * stride)
      for (std::int64_t inner = 0; inner < stride; ++inner) {
        Complex* const first = grid + outer + inner;
        for (std::int64_t k = 0; k < n; ++k) {
          Complex sum = 0;
          for (std::int64_t j = 0, power = 0; j < n; ++j, power = (power + k) % n)
            sum += first[j * stride] * roots[static_cast<std::size_t>(power)];
          line[static_cast<std::size_t>(k)] = sum;
        }
        for (std::int64_t k = 0; k < n; ++k) first[k * stride] = line[static_cast<std::size_t>(k)];
      }
  }
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
