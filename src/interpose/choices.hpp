// What is chosen for the calls of a communicator: the same for all whose ranks lie alike, of which a program may have a
// thousand.
#pragma once

#include "interpose/reproducible.hpp"
#include "plan/wisdom.hpp"
#include "schedule/collective.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::interpose {

struct Choices {
  struct Of {
    std::vector<plan::Choice> any, fixed;           // by length; these for what must keep its order
    const plan::Choice* for_local_counts = nullptr; // of `any`
    bool none() const { return any.empty() && fixed.empty(); }
  };
  std::array<Of, collective_kinds> of;
  bool hint_single_copies = false;

  const Of& operator[](CollectiveKind kind) const { return of[kind.index()]; }
};

// `hash` tells one wisdom from another in this process. On any thread.
std::shared_ptr<const Choices> choices_on(const plan::RankCounts& on, const plan::Wisdom& wisdom, std::uint64_t hash,
                                          Reproducible reproducible);

} // namespace kumihimo::interpose
