// The algorithms chosen for the calls of a communicator. Communicators with the same numbers of ranks and nodes share
// them; a program may have a thousand.
#pragma once

#include "base/result.hpp"
#include "interpose/buffer_semantics.hpp"
#include "interpose/call_counters.hpp"
#include "plan/wisdom.hpp"
#include "schedule/collective.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace kumihimo::interpose {

// The promise about the bits of reductions (KUMIHIMO_REPRODUCIBLE). Only floating types round, so it changes no choice
// for other types.
enum class Reproducible : std::uint8_t {
  off,
  order, // one order for each number of ranks: the same bits on any placement, in every run
  exact  // also, sums are rounded once, at the end: the same bits on any number of ranks
};

std::string_view name_of(Reproducible mode); // "order"
// Reads "" (off), "order" or "exact". Error: another word.
Result<Reproducible> parse_reproducible(std::string_view word);

// Whether this reduction runs in a fixed order, by a plan of ours, whatever was chosen.
constexpr bool is_fixed(Reproducible mode, const Collective& collective) {
  return mode != Reproducible::off && collective.reduces() && is_floating(collective.type);
}

// Whether a forwarded call has reproducible bits: it reduces nothing, or nothing that rounds. In a reproducible run,
// wisdom never forwards a reduction that rounds.
constexpr bool stays_reproducible(CollectiveKind kind, Reason reason) {
  return !kind->reduces() || reason == Reason::empty || reason == Reason::not_chosen;
}

// The algorithms for fixed orders: the choices of wisdom with a fixed order and no nodes, then algorithms chosen by
// length only. Each keeps one order on all placements of the ranks.
std::vector<plan::WisdomChoice> fixed_choices(const plan::Wisdom& wisdom, CollectiveKind kind, std::int32_t ranks);

struct CommunicatorChoices {
  struct OfCollective {
    plan::ChoiceMap any, fixed;   // by length; `fixed` for fixed orders
    plan::ChoiceMap unequal;      // by the length of the longest block; `any` where it has none
    plan::ChoiceMap non_blocking; // of non-blocking calls; `any` where it has none
    std::shared_ptr<const plan::WisdomChoice> for_local_counts;
    bool none = true;
  };
  std::array<OfCollective, collective_kinds> of;
  bool hint_single_copies = false;

  const OfCollective& operator[](CollectiveKind kind) const { return of[kind.index()]; }
};

// Can be called on any thread. `hash`: equal for equal wisdom.
std::shared_ptr<const CommunicatorChoices> communicator_choices(const plan::RankCounts& on, const plan::Wisdom& wisdom,
                                                                std::uint64_t hash, Reproducible reproducible);

} // namespace kumihimo::interpose
