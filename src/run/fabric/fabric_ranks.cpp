#include "fabric/fabric_ranks.hpp"

namespace kumihimo::fabric {

bool FabricRanks::misses_one(FabricPort& port) const {
  const std::lock_guard lock(port.mutex());
  bool misses = false;
  for (std::int32_t each = 0; each < ranks() && !misses; ++each) {
    const std::optional<PeerId> met = port.met(card(each));
    misses = (met && port.has_lost(*met)) || shared_memory::has_ended(FabricPort::process_of(card(each)));
    if (met && !misses && each != rank) port.ping(*met);
  }
  return misses;
}

} // namespace kumihimo::fabric
