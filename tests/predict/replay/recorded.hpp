// Events of made-up recordings.
#pragma once

#include "replay/recording.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace kumihimo::replay {

using Events = std::vector<Event>;

inline Event compute(std::int64_t ns, std::uint32_t region = 0) {
  return {0, EventKind::compute, trace::Compute{ns, region}};
}
inline Event event(EventKind kind, std::int32_t peer = -1, std::int64_t bytes = 0, std::int32_t tag = 0,
                   std::uint32_t request = 0) {
  Event e(0, kind, trace::MessageEvent{bytes, peer, tag});
  e.request = request;
  return e;
}
inline Event enter(std::uint32_t site = 0) { return {0, EventKind::enter, trace::Enter{{}, site}}; }
inline Event leave() { return {0, EventKind::leave}; }
inline Event collective(CollectiveKind kind, std::int64_t bytes, std::int32_t root = -1,
                        EventKind as = EventKind::collective, std::uint32_t request = 0) {
  Event e(0, as, trace::CollectiveEvent{bytes, root, 0, 0, static_cast<std::uint8_t>(kind.index())});
  e.request = request;
  return e;
}

inline Event on(std::uint32_t communicator, Event e) {
  if (has_message(e.kind))
    e.message().communicator = communicator;
  else
    e.collective().communicator = communicator;
  return e;
}

inline std::vector<Event> events_of(const Source& source, std::int32_t rank) {
  std::vector<Event> events;
  const auto append = [&](std::span<const Event> some, std::size_t) -> Status {
    events.insert(events.end(), some.begin(), some.end());
    return Nothing{};
  };
  EXPECT_TRUE(for_each_part(source.stream(rank), append));
  return events;
}

inline Recording recording_of(const std::vector<Events>& ranks) {
  Recording recording(static_cast<std::int32_t>(ranks.size()));
  recording.name_places([](std::uint32_t place) { return "site " + std::to_string(place); });
  for (std::size_t r = 0; r < ranks.size(); ++r) recording.set(static_cast<std::int32_t>(r), ranks[r]);
  return recording;
}

} // namespace kumihimo::replay
