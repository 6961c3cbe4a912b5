#include "stencil/fdtd2d/fields.hpp"

#include "threads/team.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::fdtd2d {
namespace {

constexpr std::int64_t line_bytes = 64, page_bytes = 4096, stagger_bytes = 256;

// Fields that began at the same place of a page would compete for the same lines of the first cache.
template <class T>
std::int64_t row_of(const FieldShape& s) {
  constexpr std::int64_t line = line_bytes / sizeof(T);
  std::int64_t row = (s.cells[0] + 2 * s.ghosts + line - 1) / line * line;
  for (int i = 0; i < 64; ++i, row += line) {
    const std::int64_t at = row * (s.cells[1] + 2 * s.ghosts) * static_cast<std::int64_t>(sizeof(T)) % page_bytes;
    if (at >= stagger_bytes && at <= page_bytes - stagger_bytes) break;
  }
  return row;
}

// Of a depth in cells, from the layer's inner side. The conductivity grows with the third power; its largest value is
// Taflove's optimum 0.8 (m + 1) / (impedance x cell). alpha, which absorbs slow fields, falls to the wall.
struct Profile {
  double layer, step;
  void coefficients(double depth, double& b, double& c) const {
    if (depth <= 0) return void(b = c = 0);
    constexpr double power = 3, largest_alpha = 0.05;
    const double share = std::min(1.0, depth / layer);
    const double sigma = 0.8 * (power + 1) * std::pow(share, power), alpha = largest_alpha * (1 - share);
    b = std::exp(-(sigma + alpha) * step);
    c = sigma / (sigma + alpha) * (b - 1);
  }
};

template <class T>
Absorption<T> absorption_of(const FieldShape& s, std::size_t axis) {
  Absorption<T> made;
  const Profile profile{static_cast<double>(s.layer), s.courant};
  const auto points = static_cast<double>(s.points[axis]), layer = profile.layer;
  const auto coefficients = [&](double at, std::vector<T>& bs, std::vector<T>& cs) {
    double b = 0, c = 0;
    profile.coefficients(std::max(layer - at, at - (points - layer)), b, c);
    bs.push_back(static_cast<T>(b));
    cs.push_back(static_cast<T>(c));
  };
  for (std::int64_t i = -s.ghosts; i < s.cells[axis] + s.ghosts; ++i) {
    const auto at = static_cast<double>(s.first[axis] + i);
    coefficients(at, made.b_node, made.c_node);
    coefficients(at + 0.5, made.b_half, made.c_half);
  }
  made.inner_begin = s.layer - s.first[axis];
  made.inner_end = s.points[axis] - s.layer - s.first[axis];
  return made;
}

} // namespace

NodeBox nodes_of_e(const FieldShape& s) {
  NodeBox box{{0, 0}, s.cells};
  for (std::size_t a = 0; a < 2; ++a)
    if (s.first[a] == 0) box.begin[a] = 1;
  return box;
}

template <class T>
double Fields<T>::bytes(const FieldShape& s) {
  return static_cast<double>(field_count * sizeof(T)) * static_cast<double>(row_of<T>(s)) *
         static_cast<double>(s.cells[1] + 2 * s.ghosts);
}

template <class T>
Result<Fields<T>> Fields<T>::make(const FieldShape& shape) {
  constexpr std::int64_t line = line_bytes / sizeof(T);
  Fields made;
  made.shape_ = shape;
  made.row_ = row_of<T>(shape);
  made.courant = static_cast<T>(shape.courant);
  const std::int64_t volume = made.row_ * (shape.cells[1] + 2 * shape.ghosts);
  made.memory_ = TRY(threads::ThreadedArray<T>::unwritten(field_count * volume + line));
  T* const memory = made.memory_.data();
  T* field = memory + (line - shape.ghosts % line) % line; // node 0 of each row begins a cache line
  std::fill(memory, field, T{});
  for (T** const each : {&made.ez, &made.hx, &made.hy, &made.psi_ezx, &made.psi_ezy, &made.psi_hx, &made.psi_hy}) {
    *each = field;
#pragma omp parallel for schedule(static) num_threads(threads::count())
    for (std::int64_t y = 0; y < volume / made.row_; ++y) std::fill_n(field + y * made.row_, made.row_, T{});
    field += volume;
  }
  std::fill(field, memory + made.memory_.size(), T{});
  made.along_x = absorption_of<T>(shape, 0);
  made.along_y = absorption_of<T>(shape, 1);
  return made;
}

template class Fields<float>;
template class Fields<double>;

} // namespace kumihimo::fdtd2d
