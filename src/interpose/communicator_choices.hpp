// What is chosen for the calls of a communicator: the same for all whose ranks lie alike, of which a program may have a
// thousand.
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

// What a run may ask of the bits of its reductions (KUMIHIMO_REPRODUCIBLE), and what is run then. Only operations on
// floating types round, so the others keep the choice that they have: any order gives their bits.
enum class Reproducible : std::uint8_t {
  off,
  order, // the order goes by the ranks' numbers and their count: the same bits for any placement, in every run
  exact  // and sums are rounded once, at the end: the same bits on any number of ranks
};

std::string_view name_of(Reproducible mode); // "order"
// "" is off. Error: another word.
Result<Reproducible> parse_reproducible(std::string_view word);

// Whether this reduction is ours, in a fixed order, whatever was chosen.
constexpr bool is_fixed(Reproducible mode, const Collective& question) {
  return mode != Reproducible::off && question.reduces() && is_floating(question.type);
}

// Whether a call that was handed on gives the same bits all the same: nothing was reduced, or nothing that rounds.
// Where reproducible results are asked for, what rounds is never left to the library by choice.
constexpr bool stays_reproducible(CollectiveKind kind, Reason reason) {
  return !kind->reduces() || reason == Reason::empty || reason == Reason::not_chosen;
}

// By what: the choices of wisdom that promise a fixed order and name no nodes; and where they say nothing, an algorithm
// that goes by the length alone. Each keeps one order on all placements of the ranks.
std::vector<plan::Choice> fixed_choices(const plan::Wisdom& wisdom, CollectiveKind kind, std::int32_t ranks);

struct CommunicatorChoices {
  struct OfCollective {
    std::vector<plan::Choice> any, fixed;           // by length; these for what must keep its order
    const plan::Choice* for_local_counts = nullptr; // of `any`
    bool none() const { return any.empty() && fixed.empty(); }
  };
  std::array<OfCollective, collective_kinds> of;
  bool hint_single_copies = false;

  const OfCollective& operator[](CollectiveKind kind) const { return of[kind.index()]; }
};

// `hash` tells one wisdom from another in this process. On any thread.
std::shared_ptr<const CommunicatorChoices> communicator_choices(const plan::RankCounts& on, const plan::Wisdom& wisdom,
                                                                std::uint64_t hash, Reproducible reproducible);

} // namespace kumihimo::interpose
