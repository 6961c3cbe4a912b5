// Where a schedule can be made wrong: steps found by what they are, and programs edited as they are built.
#pragma once

#include "program/binding.hpp"
#include "schedule/schedule.hpp"

#include <functional>
#include <optional>

namespace kumihimo::verify {

struct StepSpot {
  Rank rank;
  LaneId lane;
  std::int32_t round = 0, step = 0; // the round as written
};

// A round in its body, for edits round about it.
struct RoundContext {
  Body& body;
  std::size_t index;  // of the round in the body
  std::int32_t depth; // of the variables that it may use: 1 directly in the lane
  Round& round() const { return std::get<Round>(body[index]); }
};

// fn(lane, number as written, context) for every round until it returns true. Edits to the body end the walk.
bool visit_rounds(Program& program, const std::function<bool(Lane&, std::int32_t, const RoundContext&)>& fn);

// The first step, ranks from the last one down, that moves data (or signals) and satisfies the predicate.
using StepTest = std::function<bool(const Program&, const Lane&, const Round&, const Step&)>;
std::optional<StepSpot> find_step(const Schedule& schedule, const StepTest& test);

// The schedule with one rank's program, or all, edited.
using Edit = std::function<void(Program&)>;
Schedule with_program(const Schedule& schedule, Rank rank, Edit edit);
Schedule with_programs(const Schedule& schedule, std::function<void(Program&, Rank)> edit);
// The schedule with one step edited.
Schedule with_step(const Schedule& schedule, const StepSpot& spot,
                   std::function<void(Program&, const RoundContext&, Step&)> edit);

} // namespace kumihimo::verify
