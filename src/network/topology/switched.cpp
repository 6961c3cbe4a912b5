#include "topology/switched.hpp"

#include "base/hash.hpp"

#include <limits>
#include <numeric>

namespace kumihimo {

std::int64_t Switched::bisection_links() const {
  std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
  for (const Cut& cut : cuts())
    fewest = std::min(fewest, std::accumulate(cut.links.begin(), cut.links.end(), std::int64_t{0}));
  return cuts().empty() ? 0 : fewest;
}

std::int32_t Switched::degree() const {
  const auto all = ports();
  return static_cast<std::int32_t>(std::accumulate(all.begin(), all.end(), std::int64_t{0}));
}

std::uint64_t Switched::hash(NodeId from, NodeId to) {
  return mixed(0, static_cast<std::uint64_t>(from.value) << 32 | static_cast<std::uint32_t>(to.value));
}

} // namespace kumihimo
