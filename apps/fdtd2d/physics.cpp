#include "fdtd2d/physics.hpp"

#include "stencil/fdtd2d/variants.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::fdtd2d {
namespace {

// The golden copy on one grid.
class GoldenGrid {
 public:
  static Result<GoldenGrid> make(std::int64_t points, std::int64_t layer, double courant, double wavelength) {
    GoldenGrid made;
    made.shape_ = {{points, points}, {0, 0}, {points, points}, 1, layer, courant};
    made.fields_ = TRY(Fields<double>::make(made.shape_));
    made.source_ = {{points / 2, points / 2}, wavelength};
    return made;
  }
  void run(std::int64_t steps) {
    const NodeBox e = nodes_of_e(shape_), h = places_of_h(e);
    for (std::int64_t s = 0; s < steps; ++s, ++done_) {
      golden::update_h(fields_, h);
      golden::update_e(fields_, e);
      fields_.ez[fields_.at(source_.node[0], source_.node[1])] += source_.added(done_, shape_.courant);
    }
  }
  // At a place relative to the source.
  double ez(std::int64_t x, std::int64_t y) const {
    return fields_.ez[fields_.at(source_.node[0] + x, source_.node[1] + y)];
  }
  double time() const { return static_cast<double>(done_) * shape_.courant; }
  const WaveSource& source() const { return source_; }

 private:
  FieldShape shape_;
  Fields<double> fields_;
  WaveSource source_;
  std::int64_t done_ = 0;
};

} // namespace

double field_in_free_space(const WaveSource& source, double r, double time) {
  if (time <= r) return 0;
  // With tau = time - r cosh(u) the singularity at tau = time - r is gone: the integral of -J'(tau) / (2 pi) over u.
  constexpr int intervals = 2000; // Simpson's rule; J' is smooth
  const double end = std::acosh(time / r), step = end / intervals;
  double sum = 0;
  for (int i = 0; i <= intervals; ++i) {
    const double weight = i == 0 || i == intervals ? 1 : i % 2 == 1 ? 4 : 2;
    sum += weight * source.current_rate(time - r * std::cosh(i * step));
  }
  return -sum * step / 3 / (2 * M_PI);
}

Frequencies frequencies_of(const FieldShape& whole, const Mode& mode) {
  const double kx = M_PI * mode.p / static_cast<double>(whole.points[0]),
               ky = M_PI * mode.q / static_cast<double>(whole.points[1]), S = whole.courant;
  return {2 / S * std::asin(S * std::hypot(std::sin(kx / 2), std::sin(ky / 2))), std::hypot(kx, ky)};
}

Result<double> analytic_error(std::int64_t layer, double courant, int finer) {
  GoldenGrid grid = TRY(GoldenGrid::make(240 * finer, layer * finer, courant, 40 * finer));
  grid.run(std::llround(160 * finer / courant)); // the pulse's middle has left 80 cells ago
  double largest = 0, difference = 0;
  const auto compare = [&](std::int64_t x, std::int64_t y) {
    const double r = std::hypot(x, y), exact = field_in_free_space(grid.source(), r, grid.time());
    largest = std::max(largest, std::abs(exact));
    difference = std::max(difference, std::abs(grid.ez(x, y) - exact));
  };
  for (std::int64_t n = 10 * finer; n <= 90 * finer; ++n) compare(n, 0);
  for (std::int64_t n = 8 * finer; n <= 64 * finer; ++n) compare(-n, n);
  return difference / largest;
}

Result<double> reflection(std::int64_t layer, double courant) {
  constexpr std::int64_t inside = 100; // nodes between the layers
  // At the end of 36 parts of time 5 the pulse has left the small grid (its middle leaves the source at time 40), and
  // no wave has come back from the walls of the large one: they are 120 + 71 cells from the source to the small grid.
  constexpr int parts = 36;
  const std::int64_t steps = std::llround(5 / courant);
  GoldenGrid small = TRY(GoldenGrid::make(inside + 2 * layer, layer, courant, 20)),
             large = TRY(GoldenGrid::make(240, 0, courant, 20));
  double difference = 0, largest = 0;
  for (int i = 0; i < parts; ++i) {
    small.run(steps);
    large.run(steps);
    const std::int64_t border = inside / 2 - 1;
    for (std::int64_t y = -border; y <= border; ++y) {
      for (std::int64_t x = -border; x <= border; ++x)
        difference = std::max(difference, std::abs(small.ez(x, y) - large.ez(x, y)));
      largest = std::max(largest, std::abs(large.ez(border, y)));
    }
  }
  return difference / largest;
}

} // namespace kumihimo::fdtd2d
