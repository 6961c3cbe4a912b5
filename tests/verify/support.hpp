// Schedules written by hand, and what a check says of them first.
#pragma once

#include "collectives/registry.hpp"
#include "program/builder.hpp"
#include "sabotage/sabotage.hpp"
#include "verify/verify.hpp"

#include <gtest/gtest.h>

namespace kumihimo::verify {

inline VerifyOptions sampled() {
  VerifyOptions o;
  o.most_exact_steps = 0;
  return o;
}

// There is one of this name, or the test is wrong.
inline Sabotage sabotage_named(std::string_view name) {
  for (const Sabotage& s : sabotages())
    if (s.name == name) return s;
  ADD_FAILURE() << "no sabotage is called " << name;
  return {};
}

inline Schedule schedule_of(const Collective& c, std::function<void(LaneBuilder&, std::int64_t)> body,
                            Segments segments = {1}, std::int64_t window = 1) {
  Schedule s(c);
  s.segments = segments;
  s.program = [=](Rank r) {
    ProgramBuilder program(segments);
    LaneBuilder lane(LaneId{0}, "", window);
    body(lane, r.value);
    program.add(std::move(lane));
    return program.finish();
  };
  return s;
}

inline Collective bcast(std::int32_t ranks, std::int64_t count = 12) {
  return make_collective(CollectiveKind::bcast, ranks, count);
}
inline Collective allreduce(std::int32_t ranks, std::int64_t count = 12, bool in_place = false) {
  return make_collective(CollectiveKind::allreduce, ranks, count, DataType::float64, Operation::sum, Rank{0}, in_place);
}

// Wrong: the reader begins after all of the writer, which waits for it to free a slot of the scratch they share.
inline Schedule reader_after_all_of_its_writer(std::int64_t count, std::int64_t segments) {
  Schedule s = schedule_of(bcast(1, count), [](LaneBuilder&, std::int64_t) {}, {segments});
  s.program = [segments](Rank) {
    ProgramBuilder program({segments});
    Scratch shared;
    shared.lane = LaneId{0};
    shared.shared = true;
    const Array cell = program.scratch(shared);
    LaneBuilder writer(LaneId{0}, "", 2), reader(LaneId{1}, "", 2);
    reader.after({LaneId{0}}, Scope::all);
    writer.step(copy(cell[whole()], in[whole()]));
    reader.step(copy(out[whole()], cell[whole()]));
    program.add(std::move(writer));
    program.add(std::move(reader));
    return program.finish();
  };
  return s;
}

inline Schedule registered(std::string_view name, const RankSpace& space, std::int64_t count,
                           std::int64_t segments = 1) {
  Parameters p;
  p.segments = segments;
  const auto row = Registry::standard().find(CollectiveKind::allreduce, name);
  auto s = (*row)->build(allreduce(space.ranks(), count), space, p);
  if (!s) s = (*row)->build(allreduce(space.ranks(), count), space, {});
  return *s;
}

inline const Finding& first(const Report& report) {
  static const Finding none;
  EXPECT_FALSE(report.ok());
  return report.ok() ? none : report.findings.front();
}

} // namespace kumihimo::verify
