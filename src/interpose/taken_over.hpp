// The collectives whose calls are caught.
#pragma once

#include "schedule/collective.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace kumihimo::interpose {

inline constexpr std::array taken_over = {CollectiveKind::bcast, CollectiveKind::reduce, CollectiveKind::allreduce};

constexpr std::size_t index_of(CollectiveKind kind) { // in taken_over
  return static_cast<std::size_t>(std::find(taken_over.begin(), taken_over.end(), kind) - taken_over.begin());
}

} // namespace kumihimo::interpose
