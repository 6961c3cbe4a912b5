#include "sabotage/spots.hpp"

namespace kumihimo::verify {
namespace {

using RoundVisitor = std::function<bool(Lane&, std::int32_t, const RoundContext&)>;

bool visit(Lane& lane, Body& body, std::int32_t depth, std::int32_t& number, const RoundVisitor& fn) {
  for (std::size_t i = 0; i < body.size(); ++i) {
    if (Loop* loop = std::get_if<Loop>(&body[i])) {
      if (visit(lane, loop->body, depth + 1, number, fn)) return true;
    } else if (fn(lane, number++, RoundContext{body, i, depth})) {
      return true;
    }
  }
  return false;
}

// Whether the step does anything at some value of its variables; the first segment and iterations are looked at.
bool does_something(const Step& step, const Binding& binding) {
  if (!step.has_data()) return true;
  for (std::int64_t i = 0; i < 4; ++i) {
    const std::vector<std::int64_t> values(max_depth, i);
    std::vector<std::int64_t> at = values;
    at[0] = i % binding.segments().count;
    if (binding.length(step.extent(), at) > 0) return true;
  }
  return false;
}

} // namespace

bool visit_rounds(Program& program, const RoundVisitor& fn) {
  for (Lane& lane : program.lanes) {
    std::int32_t number = 0;
    if (visit(lane, lane.body, 1, number, fn)) return true;
  }
  return false;
}

std::optional<StepSpot> find_step(const Schedule& schedule, const StepTest& test) {
  std::optional<StepSpot> found;
  for (std::int32_t r = schedule.ranks() - 1; r >= 0 && !found; --r) {
    Program program = schedule.program(Rank{r});
    const Binding binding(schedule, Rank{r});
    visit_rounds(program, [&](Lane& lane, std::int32_t number, const RoundContext& context) {
      const Round& round = context.round();
      for (std::size_t j = 0; j < round.steps.size() && !found; ++j)
        if (does_something(round.steps[j], binding) && test(program, lane, round, round.steps[j]))
          found = StepSpot{Rank{r}, lane.id, number, static_cast<std::int32_t>(j)};
      return found.has_value();
    });
  }
  return found;
}

Schedule with_programs(const Schedule& schedule, std::function<void(Program&, Rank)> edit) {
  Schedule wrong = schedule;
  wrong.program = [build = schedule.program, edit = std::move(edit)](Rank r) {
    Program program = build(r);
    edit(program, r);
    return program;
  };
  return wrong;
}

Schedule with_program(const Schedule& schedule, Rank rank, Edit edit) {
  return with_programs(schedule, [rank, edit = std::move(edit)](Program& program, Rank r) {
    if (r == rank) edit(program);
  });
}

Schedule with_step(const Schedule& schedule, const StepSpot& spot,
                   std::function<void(Program&, const RoundContext&, Step&)> edit) {
  return with_program(schedule, spot.rank, [spot, edit = std::move(edit)](Program& program) {
    visit_rounds(program, [&](Lane& lane, std::int32_t number, const RoundContext& context) {
      if (lane.id != spot.lane || number != spot.round) return false;
      edit(program, context, context.round().steps[spot.step]);
      return true;
    });
  });
}

} // namespace kumihimo::verify
