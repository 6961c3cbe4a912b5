#include "verify/memory_checks.hpp"

#include <fmt/format.h>

namespace kumihimo::verify {
namespace {

std::string user_text(const RankState& state, const User& u) {
  return fmt::format("lane {}, segment {}, round {}", state.lanes[u.lane].id, u.segment, u.round);
}

std::optional<Finding> use_run(RankState& state, std::int32_t buffer, ElementRun run, bool writes, const User& user,
                               const Activation& a, const SymbolicMemory::Ordered& ordered, ValueStore& store) {
  const auto place = [&] { return a.place(user.node, user.step); };
  const std::int64_t all = state.elements[buffer];
  if (run.first < 0 || run.first + run.count > all)
    return Finding{Check::structure, place(),
                   fmt::format("{} {}, beyond its {} elements", writes ? "writes" : "reads",
                               element_text(buffer, run.first < 0 ? run.first : run.first + run.count - 1), all)};
  if (buffer == 0 && !state.schedule.data->one_buffer)
    if (const auto lost = state.memory.overwritten_input(run))
      return Finding{Check::claim, place(),
                     fmt::format("claims to be safe in place, but reads {} after {} wrote the output there",
                                 element_text(0, lost->element), user_text(state, lost->other))};
  if (const auto clash = state.memory.use(buffer, run, writes, user, ordered, store))
    return Finding{Check::overlap, place(),
                   fmt::format("{} {}, which {} {}; nothing orders the two steps", writes ? "writes" : "reads",
                               element_text(buffer, clash->element), user_text(state, clash->other),
                               clash->wrote ? "writes" : "reads")};
  return std::nullopt;
}

} // namespace

std::string element_text(std::int32_t buffer, std::int64_t element) {
  if (buffer < 2) return fmt::format("{} element {}", buffer == 0 ? "input" : "output", element);
  return fmt::format("scratch {} element {}", buffer - 2, element);
}

std::optional<Finding> use_memory(RankState& state, const Activation& a, std::int32_t node, std::int32_t step,
                                  ValueStore& store) {
  const StepInstance& s = a.steps[step];
  const User user{a.lane, a.segment, node, a.nodes[node].round, step};
  const SymbolicMemory::Ordered ordered = [&](const User& x, const User& y) {
    if (x.lane == y.lane && x.segment == y.segment) return a.ordered(x.node, y.node);
    return state.order->is_complete(x.lane, x.segment, y.lane, y.segment);
  };
  for (const Located* place : {&s.source, &s.right, &s.target}) {
    if (!place->exists()) continue;
    for (std::int32_t i = 0; i < place->runs; ++i)
      if (auto wrong =
              use_run(state, place->buffer, a.runs[place->first_run + i], place == &s.target, user, a, ordered, store))
        return wrong;
  }
  for (const Located* place : {&s.source, &s.right})
    if (place->exists() && state.shifted_overlap(a, *place, s.target))
      return Finding{Check::overlap, a.place(node, step), "reads and writes overlapping runs at different places"};
  return std::nullopt;
}

std::optional<Finding> check_footprint(const Subject& schedule, Rank rank, std::int64_t segments, OrderCache& orders) {
  ValueStore store;
  ExecutionScope scope;
  scope.segments = segments;
  RankState state(schedule, rank, scope, orders);
  if (state.one_memory()) state.memory.alias(state.binding.input_within_output());
  // One segment after the other, lanes as their waits allow: an order that every execution's is compatible with.
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t l = 0; l < state.lanes.size(); ++l) {
      if (!state.may_begin(static_cast<std::int32_t>(l))) continue;
      moved = true;
      const Activation& a = *state.begin(static_cast<std::int32_t>(l));
      for (std::size_t n = 0; n < a.nodes.size(); ++n)
        for (std::int32_t i = 0; i < a.nodes[n].steps; ++i) {
          const std::int32_t step = a.nodes[n].first_step + i;
          if (!a.steps[step].has_data() || a.steps[step].length == 0) continue;
          if (auto wrong = use_memory(state, a, static_cast<std::int32_t>(n), step, store)) return wrong;
        }
      state.finish(static_cast<std::int32_t>(l), a.segment);
    }
  }
  return std::nullopt;
}

} // namespace kumihimo::verify
