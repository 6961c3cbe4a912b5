#include "schedule_features/features.hpp"

#include "program/builder.hpp"

namespace kumihimo::features {

Feature make(std::string name, Collective collective, Segments segments, std::function<Program(Rank)> program) {
  Schedule s(std::move(collective));
  s.algorithm = name;
  s.segments = segments;
  s.program = std::move(program);
  return {std::move(name), std::move(s)};
}

// Dissemination: in step k everybody tells the rank 2^k further on that it, and all it has heard of, have entered.
std::vector<Feature> of_signals() {
  const std::int32_t P = 7;
  return {make("barrier_signals", make_collective(CollectiveKind::barrier, P, 0), {1}, [](Rank rank) {
    ProgramBuilder program;
    LaneBuilder lane(LaneId{0}, "dissemination", 1);
    for (std::int64_t step = 1; step < P; step *= 2)
      lane.round({signal((rank.value + step) % P), wait_signal(floor_mod(rank.value - step, P))});
    program.add(std::move(lane));
    return program.finish();
  })};
}

std::vector<Feature> all() {
  std::vector<Feature> list = of_vectors();
  for (auto part : {of_blocks(), of_signals()})
    for (Feature& f : part) list.push_back(std::move(f));
  return list;
}

} // namespace kumihimo::features
