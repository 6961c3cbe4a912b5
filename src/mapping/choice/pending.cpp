#include "mapping/bounds/bounds.hpp"
#include "mapping/structured/structured_maps.hpp"

namespace kumihimo::mapping {
std::vector<Lattice> recognise(const Graph&) { return {}; }
std::string Lattice::name() const { return {}; }
std::vector<NamedMap> structured_maps(const Problem&, std::span<const Lattice>, std::int64_t, std::uint64_t,
                                      const Tools&) {
  return {};
}
std::vector<HopBound> hop_bounds(const Problem&, std::span<const Lattice>, std::int64_t, const Tools&) {
  return {{"none", 0, ""}};
}
std::vector<LinkBound> link_bounds(const Problem&, double) { return {{"none", 0, ""}}; }
} // namespace kumihimo::mapping
