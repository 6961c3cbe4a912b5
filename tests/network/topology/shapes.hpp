// A shape by its text, and every small shape, for tests by exhaustion.
#pragma once

#include "topology/shape.hpp"

#include <vector>

namespace kumihimo {

inline Shape shape(std::string_view text) { return *Shape::parse(text); }

// All shapes of 1 to `dimensions` axes of length 1 to `longest`, each wrapping or not, of at most `places` places.
inline std::vector<Shape> small_shapes(int dimensions, std::int32_t longest, std::int32_t places) {
  std::vector<Shape> all;
  std::vector<std::vector<Axis>> begun = {{}};
  for (int d = 0; d < dimensions; ++d) {
    std::vector<std::vector<Axis>> longer;
    for (const auto& axes : begun)
      for (std::int32_t length = 1; length <= longest; ++length)
        for (const bool wraps : {true, false}) {
          auto next = axes;
          next.push_back(Axis{length, wraps});
          const Shape shape(next);
          if (shape.places() > places) continue;
          all.push_back(shape);
          longer.push_back(std::move(next));
        }
    begun = std::move(longer);
  }
  return all;
}

} // namespace kumihimo
