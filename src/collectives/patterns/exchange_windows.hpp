// How many messages of a direct exchange are under way at a rank: whole rounds, each a send and a receive, or sends and
// receives apart. Apart, the next send starts as soon as one of the window of sends is complete, whatever has arrived,
// and the next receive as soon as one of the window of receives is complete, whatever was sent.
//
// Freedom from deadlock: sends and receives of all ranks are in the order of one list of distances. Of all messages
// that are not complete, one of the shortest distance is the first of both its ends, so both have started. Reference:
// CASTEP's alltoallv has both limits, and tunes them.
#pragma once

#include "collectives/registry.hpp"
#include "program/builder.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {

inline std::vector<Variant::Parameter> window_parameters() {
  return {{parameter::throttle, DerivedDefault{"all of them"}},
          {parameter::send_window, DerivedDefault{"throttle"}},
          {parameter::receive_window, DerivedDefault{"throttle"}}};
}

struct ExchangeWindows {
  std::int64_t rounds = 1;              // under way, if sends and receives are not apart
  std::int64_t sends = 1, receives = 1; // under way, if they are
  bool apart = false;

  // As asked for, of at most `most` messages each way: a window without its own number has that of throttle.
  static ExchangeWindows of(const Parameters& p, std::int64_t most) {
    const auto limit = [&](const std::optional<std::int64_t>& asked) {
      return std::clamp<std::int64_t>(asked.value_or(p.throttle.value_or(most)), 1, std::max<std::int64_t>(1, most));
    };
    return {limit(p.throttle), limit(p.send_window), limit(p.receive_window), p.send_window || p.receive_window};
  }

  std::string text() const {
    return apart ? fmt::format("send_window={} receive_window={}", sends, receives)
                 : fmt::format("throttle={}", rounds);
  }

  // A loop of `trip` rounds that `round` makes of its variable.
  template <class F>
  void write(BodyBuilder& body, std::int64_t trip, F&& round) const {
    if (!apart || std::min(sends, receives) >= trip) return body.loop(trip, round, apart ? trip : rounds);
    const auto half = [&](bool of_sends) {
      return [&round, of_sends](Variable i) {
        Round made = round(i);
        std::erase_if(made.steps, [&](const Step& step) { return step.sends() != of_sends; });
        return made;
      };
    };
    body.together([&](BodyBuilder& both) {
      both.loop(trip, half(false), receives); // first, so that they are posted when the sends start
      both.loop(trip, half(true), sends);
    });
  }
};

} // namespace kumihimo
