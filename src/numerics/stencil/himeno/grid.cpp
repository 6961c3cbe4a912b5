#include "stencil/himeno/grid.hpp"

#include "base/text_parsing.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>

#include <optional>
#include <string_view>

namespace kumihimo::himeno {
namespace {

constexpr std::int64_t line = 16;                   // floats of a cache line
constexpr std::int64_t page = 1024, stagger = 80;   // floats
constexpr std::int64_t arrays = 14, longest = 8192; // points along an axis

constexpr std::int64_t rounded_up(std::int64_t n, std::int64_t unit) { return (n + unit - 1) / unit * unit; }

std::int64_t row_of(const GridShape& s) { return rounded_up(s.cells[2] + 2 * s.layers, line); }

// From one array to the next. Arrays that began at the same place of a page would compete for the same lines of the
// first cache, as a row of the usual sizes is 1 KiB or 2 KiB long.
std::int64_t stride_of(const GridShape& s) {
  const std::int64_t volume = row_of(s) * (s.cells[1] + 2 * s.layers) * (s.cells[0] + 2 * s.layers);
  return rounded_up(volume + line - stagger, page) + stagger;
}

struct NamedSize {
  std::string_view name;
  Triple points;
};
constexpr NamedSize sizes[] = {{"XS", {32, 32, 64}},
                               {"S", {64, 64, 128}},
                               {"M", {128, 128, 256}},
                               {"L", {256, 256, 512}},
                               {"XL", {512, 512, 1024}}};

} // namespace

Result<Triple> parse_size(std::string_view text) {
  for (const NamedSize& each : sizes)
    if (each.name == text) return each.points;
  const std::optional<Triple> found = box_in(text);
  if (!found)
    return wrong_value("the size must be XS, S, M, L, XL or points along i, j and k", fmt::format("'{}'", text),
                       "write for example M or 128x128x256");
  for (const std::int64_t n : *found)
    if (n < 3 || n > longest) return wrong_value(fmt::format("each axis must have 3 to {} points", longest), n);
  return *found;
}

double HimenoGrid::bytes(const GridShape& shape) { return 4.0 * arrays * static_cast<double>(stride_of(shape)); }

Result<HimenoGrid> HimenoGrid::make(const GridShape& shape) {
  HimenoGrid grid;
  grid.shape_ = shape;
  grid.row_ = row_of(shape);
  grid.plane_ = grid.row_ * (shape.cells[1] + 2 * shape.layers);
  const std::int64_t stride = stride_of(shape);
  grid.memory_ = TRY(threads::ThreadedArray<float>::unwritten(arrays * stride));
  float* array = grid.memory_.data() + (line - shape.layers % line) % line; // cell 0 of each row begins a cache line
  for (float** const each : {&grid.p, &grid.next, &grid.a[0], &grid.a[1], &grid.a[2], &grid.a[3], &grid.b[0],
                             &grid.b[1], &grid.b[2], &grid.c[0], &grid.c[1], &grid.c[2], &grid.bnd, &grid.wrk1}) {
    *each = array;
    array += stride;
  }
  grid.initialise();
  return grid;
}

// A number from -1 to 1 by a place and an array (the finaliser of MurmurHash3, A. Appleby).
float number_of(std::uint64_t place, std::uint64_t array) {
  std::uint64_t h = place * 16 + array;
  h = (h ^ h >> 33) * 0xff51afd7ed558ccdULL;
  h = (h ^ h >> 33) * 0xc4ceb9fe1a85ec53ULL;
  return static_cast<float>(static_cast<double>(static_cast<std::int64_t>(h ^ h >> 33)) * 0x1p-63);
}

void HimenoGrid::vary(std::int64_t i) {
  const std::int64_t L = shape_.layers;
  for (std::int64_t j = -L; j < shape_.cells[1] + L; ++j)
    for (std::int64_t k = -L; k < shape_.cells[2] + L; ++k) {
      const std::int64_t n = at(i - L, j, k);
      const auto place = static_cast<std::uint64_t>(
          ((shape_.first[0] + i - L + 1) * shape_.points[1] + shape_.first[1] + j + 1) * shape_.points[2] +
          shape_.first[2] + k + 1);
      p[n] = next[n] = number_of(place, 0);
      for (std::uint64_t m = 0; m < 3; ++m) {
        a[m][n] = 1 + 0.1F * number_of(place, 1 + m);
        b[m][n] = 0.1F * number_of(place, 4 + m);
        c[m][n] = 1 + 0.1F * number_of(place, 7 + m);
      }
      bnd[n] = 1 + 0.1F * number_of(place, 10);
      wrk1[n] = 0.1F * number_of(place, 11);
    }
}

void HimenoGrid::initialise() {
  const std::int64_t planes = shape_.cells[0] + 2 * shape_.layers;
  const auto last = static_cast<float>(shape_.points[0] - 1);
#pragma omp parallel for schedule(static) num_threads(threads::count())
  for (std::int64_t i = 0; i < planes; ++i) {
    const auto at = static_cast<float>(shape_.first[0] + i - shape_.layers + 1);
    for (std::int64_t n = i * plane_; n < (i + 1) * plane_; ++n) {
      p[n] = next[n] = at * at / (last * last);
      a[0][n] = a[1][n] = a[2][n] = 1;
      a[3][n] = 1.0F / 6.0F;
      b[0][n] = b[1][n] = b[2][n] = 0;
      c[0][n] = c[1][n] = c[2][n] = 1;
      bnd[n] = 1;
      wrk1[n] = 0;
    }
    if (shape_.varied) vary(i);
  }
}

} // namespace kumihimo::himeno
