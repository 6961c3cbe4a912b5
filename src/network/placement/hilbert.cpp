#include "placement/hilbert.hpp"

#include <algorithm>
#include <bit>

namespace kumihimo {
namespace {

// A part of the box, the corner where the curve enters it, and the axis along which the curve leaves it.
struct CurvePart {
  Coordinates low, lengths;
  std::vector<bool> enters_high; // by axis: the corner is at the high end
  std::int32_t leaves_along = 0;
};

std::uint32_t gray_code(std::uint32_t i) { return i ^ (i >> 1); }

class Curve {
 public:
  explicit Curve(const Shape& box) : box_(box) {
    const auto axes = static_cast<std::size_t>(box.dimensions());
    CurvePart whole{Coordinates(axes), Coordinates(axes), std::vector<bool>(axes), 0};
    for (std::size_t axis = 0; axis < axes; ++axis) whole.lengths[axis] = box.axes()[axis].length;
    places_.reserve(static_cast<std::size_t>(box.places()));
    walk(whole);
  }
  std::vector<std::int32_t> places() && { return std::move(places_); }

 private:
  void walk(const CurvePart& part) {
    const std::vector<std::int32_t> halved = axes_to_halve(part);
    if (halved.empty()) {
      places_.push_back(box_.place(part.low));
      return;
    }
    const auto k = static_cast<std::uint32_t>(halved.size());
    const auto leaving = std::find(halved.begin(), halved.end(), part.leaves_along);
    // Bit j of the Gray code is this axis; the last bit, which alone differs at the end, is the axis to leave along.
    const auto rotation = static_cast<std::uint32_t>(leaving == halved.end() ? 0 : leaving - halved.begin()) + 1;
    const auto axis_of_bit = [&](std::uint32_t bit) { return halved[(bit + rotation) % k]; };
    for (std::uint32_t i = 0; i < 1U << k; ++i) {
      const std::uint32_t entry = i == 0 ? 0 : gray_code((i - 1) / 2 * 2);
      const std::uint32_t exit_bit = i == 0 ? 0 : static_cast<std::uint32_t>(std::countr_one(i % 2 == 0 ? i - 1 : i));
      CurvePart half = part;
      for (std::uint32_t bit = 0; bit < k; ++bit) {
        const std::int32_t axis = axis_of_bit(bit);
        const std::int32_t low_half = part.lengths[axis] / 2;
        const bool high = (((gray_code(i) >> bit) & 1U) != 0) != part.enters_high[axis];
        half.low[axis] += high ? low_half : 0;
        half.lengths[axis] = high ? part.lengths[axis] - low_half : low_half;
        half.enters_high[axis] = (((entry >> bit) & 1U) != 0) != part.enters_high[axis];
      }
      half.leaves_along = axis_of_bit(exit_bit % k);
      walk(half);
    }
  }

  static std::vector<std::int32_t> axes_to_halve(const CurvePart& part) {
    const std::int32_t longest = part.lengths.empty() ? 1 : *std::max_element(part.lengths.begin(), part.lengths.end());
    std::vector<std::int32_t> axes;
    if (longest == 1) return axes;
    for (std::size_t axis = 0; axis < part.lengths.size(); ++axis)
      if (part.lengths[axis] > longest / 2) axes.push_back(static_cast<std::int32_t>(axis));
    return axes;
  }

  const Shape& box_;
  std::vector<std::int32_t> places_;
};

} // namespace

std::vector<std::int32_t> places_along_hilbert_curve(const Shape& box) { return Curve(box).places(); }

} // namespace kumihimo
