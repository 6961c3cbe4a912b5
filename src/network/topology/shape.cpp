#include "topology/shape.hpp"

#include <fmt/format.h>

#include <charconv>
#include <limits>

namespace kumihimo {

Shape::Shape(std::vector<Axis> axes) : axes_(std::move(axes)), strides_(axes_.size()) {
  for (std::size_t i = axes_.size(); i-- > 0;) {
    strides_[i] = places_;
    places_ *= axes_[i].length;
  }
}

Result<Shape> Shape::parse(std::string_view text) {
  const auto wrong = [](std::string got) {
    return wrong_value("a shape is lengths of at least 1 joined by x, such as 48x6x32 (4x3mx2 for a mesh axis)",
                       std::move(got));
  };
  std::vector<Axis> axes;
  std::int64_t places = 1;
  const char* at = text.data();
  const char* end = at + text.size();
  while (true) {
    Axis axis;
    const auto [next, code] = std::from_chars(at, end, axis.length);
    if (code == std::errc::result_out_of_range ||
        (code == std::errc{} && axis.length > 0 && (places *= axis.length) > std::numeric_limits<std::int32_t>::max()))
      return wrong(fmt::format("'{}', more than 2^31-1 places", text));
    if (code != std::errc{} || axis.length < 1) return wrong(fmt::format("'{}'", text));
    at = next;
    if (at != end && *at == 'm') axis.wraps = false, ++at;
    axes.push_back(axis);
    if (at == end) break;
    if (*at != 'x') return wrong(fmt::format("'{}'", text));
    ++at;
  }
  if (axes.size() > 16) return wrong(fmt::format("'{}', more than 16 axes", text, axes.size()));
  return Shape(std::move(axes));
}

Coordinates Shape::coordinates(std::int32_t place) const {
  Coordinates c(axes_.size());
  for (std::int32_t a = 0; a < dimensions(); ++a) c[a] = coordinate(place, a);
  return c;
}

std::int32_t Shape::place(const Coordinates& coordinates) const {
  std::int32_t p = 0;
  for (std::size_t a = 0; a < axes_.size(); ++a) p += coordinates[a] * strides_[a];
  return p;
}

std::int32_t Shape::shifted(std::int32_t place, std::int32_t axis, std::int32_t steps) const {
  const std::int64_t length = axes_[axis].length; // sums of two coordinates may pass 2^31
  const std::int32_t from = coordinate(place, axis);
  const auto to = static_cast<std::int32_t>((from + steps % length + length) % length);
  return place + (to - from) * strides_[axis];
}

std::string Shape::text() const {
  std::string s;
  for (const Axis& axis : axes_) s += fmt::format("{}{}{}", s.empty() ? "" : "x", axis.length, axis.wraps ? "" : "m");
  return s;
}

} // namespace kumihimo
