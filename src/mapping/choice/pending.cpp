#include "mapping/bounds/bounds.hpp"

namespace kumihimo::mapping {
std::vector<HopBound> hop_bounds(const Problem&, std::span<const Lattice>, std::int64_t, const Tools&) {
  return {{"none", 0, ""}};
}
std::vector<LinkBound> link_bounds(const Problem&, double) { return {{"none", 0, ""}}; }
} // namespace kumihimo::mapping
