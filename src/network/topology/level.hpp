// What is close to what where there are no axes: groups of consecutive nodes, or ranks.
#pragma once

#include <cstdint>
#include <string>

namespace kumihimo {

struct Level {
  std::string name;      // "group", "switch", "node", "package"
  std::int32_t size = 1; // of each group but the last, which may be smaller
  bool operator==(const Level&) const = default;
};

// Whether each group of a level lies within one of another.
inline bool nests_in(const Level& inner, const Level& outer) {
  return inner.size > 0 && inner.size < outer.size && outer.size % inner.size == 0;
}

} // namespace kumihimo
