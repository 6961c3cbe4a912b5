// Schedules made wrong on purpose. A checker that has never rejected anything proves nothing: each of these, applied to
// a correct schedule, must be found.
#pragma once

#include "schedule/schedule.hpp"

#include <optional>
#include <span>
#include <string_view>

namespace kumihimo::verify {

struct Sabotage {
  std::string_view name;    // "wrong_peer"
  std::string_view meaning; // one line
  // The schedule with one thing wrong; nothing where it has no place for it.
  std::optional<Schedule> (*apply)(const Schedule& schedule);
};

std::span<const Sabotage> sabotages();

} // namespace kumihimo::verify
