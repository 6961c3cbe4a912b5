// What a run may ask of the bits of its reductions (KUMIHIMO_REPRODUCIBLE), and what is run then. Only operations on
// floating types round, so the others keep the choice that they have: any order gives their bits.
#pragma once

#include "base/result.hpp"
#include "interpose/buffer_semantics.hpp"
#include "interpose/call_counters.hpp"
#include "plan/wisdom.hpp"
#include "schedule/collective.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kumihimo::interpose {

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

} // namespace kumihimo::interpose
