#include "fabric/wire.hpp"

namespace kumihimo::fabric {

WireKey wire_key(const transport::MessageKey& key) {
  return {key.peer.value,
          static_cast<std::uint16_t>(key.lane.value),
          key.signal,
          static_cast<std::uint32_t>(key.ordinal),
          static_cast<std::uint32_t>(key.segment),
          key.instance};
}

WireKey wire_key(const WireHeader& header) {
  return {static_cast<std::int32_t>(header.source),
          header.lane,
          header.signal != 0,
          header.ordinal,
          header.segment,
          header.instance};
}

void write_key(const WireKey& key, WireHeader& header) {
  header.lane = key.lane;
  header.signal = key.signal;
  header.ordinal = key.ordinal;
  header.segment = key.segment;
  header.instance = key.instance;
}

std::size_t WireKeyHash::operator()(const WireKey& key) const {
  std::uint64_t hash = key.instance * 0x9e3779b97f4a7c15u;
  for (const std::uint64_t part : {static_cast<std::uint64_t>(key.peer) << 32 | key.segment,
                                   static_cast<std::uint64_t>(key.ordinal) << 17 |
                                       static_cast<std::uint64_t>(key.lane) << 1 | (key.signal ? 1 : 0)})
    hash = (hash ^ part) * 0x9e3779b97f4a7c15u, hash ^= hash >> 29;
  return static_cast<std::size_t>(hash);
}

bool is_built() {
#ifdef KUMIHIMO_LIBFABRIC
  return true;
#else
  return false;
#endif
}

} // namespace kumihimo::fabric
