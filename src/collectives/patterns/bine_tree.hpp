// The Bine tree of 2^k ranks, numbered from its root: in the k steps of it whoever has the message sends it over the
// next of the distances ..., 11, -5, 3, -1, 1, as in negabinary.hpp. What is below a rank are ranks in a row, round it.
#pragma once

#include "collectives/patterns/negabinary.hpp"

#include <optional>
#include <vector>

namespace kumihimo {

struct BinePlace {
  struct Child {
    std::int64_t number;
    int steps; // its subtree: what it reaches over this number of distances (SwingReach)
  };
  std::optional<std::int64_t> parent;
  int steps = 0;               // likewise
  std::vector<Child> children; // by growing subtrees
};
BinePlace bine_place(std::int32_t ranks, std::int64_t number); // ranks: a power of two

} // namespace kumihimo
