#include "fft/sphere.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace kumihimo::fft {

Result<Sphere> Sphere::make(const Triple& points, double radius) {
  const std::int64_t shortest = *std::min_element(points.begin(), points.end());
  if (!(radius >= 0) || 2 * std::floor(radius) + 1 > static_cast<double>(shortest))
    return wrong_value(fmt::format("the radius must be from 0 to {}: a grid of {} points holds no more frequencies",
                                   (shortest - 1) / 2, shortest),
                       fmt::format("{:g}", radius));
  if (radius > static_cast<double>(most_radius))
    return wrong_value(fmt::format("the radius must be at most {}", most_radius), fmt::format("{:g}", radius));
  Sphere made{points, radius, {}, {}};
  const auto reach = static_cast<std::int64_t>(std::floor(radius));
  for (std::int64_t kx = -reach; kx <= reach; ++kx)
    for (std::int64_t ky = -reach; ky <= reach; ++ky) {
      const double rest = radius * radius - static_cast<double>(kx * kx + ky * ky);
      if (rest < 0) continue;
      auto of_column = static_cast<std::int64_t>(std::floor(std::sqrt(rest)));
      made.columns.push_back({place_of(kx, points[0]), place_of(ky, points[1]), of_column});
    }
  std::ranges::sort(made.columns, {}, [](const WaveColumn& column) { return std::pair(column.x, column.y); });
  for (const WaveColumn& column : made.columns)
    if (made.planes.empty() || made.planes.back() != column.x) made.planes.push_back(column.x);
  return made;
}

std::int64_t Sphere::coefficients() const {
  std::int64_t all = 0;
  for (const WaveColumn& column : columns) all += column.coefficients();
  return all;
}

std::vector<std::vector<std::int32_t>> deal_columns(const Sphere& sphere, std::int32_t ranks) {
  std::vector<std::int32_t> order(sphere.columns.size());
  std::iota(order.begin(), order.end(), 0);
  const auto length = [&](std::int32_t column) { return sphere.columns[static_cast<std::size_t>(column)].reach; };
  std::ranges::stable_sort(order, std::greater<>(), length);
  std::vector<std::vector<std::int32_t>> dealt(static_cast<std::size_t>(ranks));
  std::vector<std::pair<std::int64_t, std::int32_t>> heap; // coefficients so far, rank; the least on top
  for (std::int32_t rank = 0; rank < ranks; ++rank) heap.emplace_back(0, rank);
  for (const std::int32_t column : order) {
    std::ranges::pop_heap(heap, std::greater<>());
    heap.back().first += 2 * length(column) + 1;
    dealt[static_cast<std::size_t>(heap.back().second)].push_back(column);
    std::ranges::push_heap(heap, std::greater<>());
  }
  for (std::vector<std::int32_t>& own : dealt) std::ranges::sort(own);
  return dealt;
}

void expand(const WaveColumn& column, const Complex* coefficients, Complex* line, std::int64_t n) {
  std::copy_n(coefficients + column.reach, column.reach + 1, line);
  std::fill(line + column.reach + 1, line + n - column.reach, Complex(0));
  std::copy_n(coefficients, column.reach, line + n - column.reach);
}

void restrict_to(const WaveColumn& column, const Complex* line, std::int64_t n, Complex* coefficients) {
  std::copy_n(line + n - column.reach, column.reach, coefficients);
  std::copy_n(line, column.reach + 1, coefficients + column.reach);
}

} // namespace kumihimo::fft
