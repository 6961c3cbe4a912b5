// Axes and coordinates: the arithmetic of a box of numbered places, the last axis running fastest (row-major).
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

// One axis of a torus or mesh. An axis that wraps has a cable from its last place to its first; at length 2 that is the
// cable that is there already.
struct Axis {
  std::int32_t length = 1;
  bool wraps = true;
  bool operator==(const Axis&) const = default;
  bool is_ring() const { return wraps && length >= 3; } // + and - are different cables, and a way round exists
};

using Coordinates = std::vector<std::int32_t>;

class Shape {
 public:
  Shape() = default;
  explicit Shape(std::vector<Axis> axes);

  // "48x6x32": a torus; a length followed by 'm' is a mesh axis ("4x3mx2"). Errors: no number, a length below 1, more
  // than 2^31-1 places.
  static Result<Shape> parse(std::string_view text);

  const std::vector<Axis>& axes() const { return axes_; }
  std::int32_t dimensions() const { return static_cast<std::int32_t>(axes_.size()); }
  std::int32_t length(std::int32_t axis) const { return axes_[axis].length; }
  std::int32_t stride(std::int32_t axis) const { return strides_[axis]; } // places between neighbours on the axis
  std::int32_t places() const { return places_; }

  std::int32_t coordinate(std::int32_t place, std::int32_t axis) const {
    return place / strides_[axis] % axes_[axis].length;
  }
  Coordinates coordinates(std::int32_t place) const;
  std::int32_t place(const Coordinates& coordinates) const;

  // The place `steps` further along the axis, round the ring whether or not it wraps.
  std::int32_t shifted(std::int32_t place, std::int32_t axis, std::int32_t steps) const;

  std::string text() const; // as parse() reads it
  bool operator==(const Shape& o) const { return axes_ == o.axes_; }

 private:
  std::vector<Axis> axes_;
  std::vector<std::int32_t> strides_;
  std::int32_t places_ = 1;
};

} // namespace kumihimo
