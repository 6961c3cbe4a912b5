// Events of made-up recordings.
#pragma once

#include "replay/recording.hpp"

#include <string>
#include <vector>

namespace kumihimo::replay {

using Events = std::vector<Event>;

inline Event compute(std::int64_t ns, std::uint32_t region = 0) {
  Event e;
  e.amount = ns, e.place = region;
  return e;
}
inline Event event(Kind kind, std::int32_t peer = -1, std::int64_t bytes = 0, std::int32_t tag = 0,
                   std::int64_t request = 0) {
  Event e;
  e.kind = kind, e.peer = peer, e.amount = bytes, e.tag = tag, e.request = request;
  return e;
}
inline Event enter(std::uint32_t site = 0) {
  Event e = event(Kind::enter);
  e.place = site;
  return e;
}
inline Event leave() { return event(Kind::leave); }
inline Event collective(CollectiveKind kind, std::int64_t bytes, std::int32_t root = -1, Kind as = Kind::collective,
                        std::int64_t request = 0) {
  Event e = event(as, root, bytes, 0, request);
  e.collective = static_cast<std::uint8_t>(kind.index());
  return e;
}

inline Event on(std::uint32_t communicator, Event e) {
  e.communicator = communicator;
  return e;
}

inline Recording recording_of(const std::vector<Events>& ranks) {
  Recording recording(static_cast<std::int32_t>(ranks.size()));
  recording.name_places([](std::uint32_t place) { return "site " + std::to_string(place); });
  for (std::size_t r = 0; r < ranks.size(); ++r) recording.set(static_cast<std::int32_t>(r), ranks[r]);
  return recording;
}

} // namespace kumihimo::replay
