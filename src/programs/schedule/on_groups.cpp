#include "schedule/on_groups.hpp"

#include <memory>
#include <string>
#include <utility>
#include <variant>

namespace kumihimo {
namespace {

struct StridedGroup {
  std::int32_t members = 1, stride = 1;
  Rank member(Rank rank) const { return Rank{rank.value / stride % members}; }
  std::int32_t first(Rank rank) const { return rank.value - member(rank).value * stride; }
};

void rename_peers(Body& body, std::int32_t first, std::int32_t stride) {
  for (Node& node : body) {
    if (Loop* const loop = std::get_if<Loop>(&node)) {
      rename_peers(loop->body, first, stride);
      continue;
    }
    for (Step& step : std::get<Round>(node).steps)
      if (step.sends() || step.receives()) step.peer = first + stride * step.peer;
  }
}

} // namespace

Result<NamedPrograms> on_groups(const Schedule& of_group, std::int32_t ranks, std::int32_t stride) {
  const StridedGroup group{of_group.ranks(), stride};
  if (stride < 1 || ranks < 1 || ranks % (std::int64_t{group.members} * stride) != 0)
    return not_applicable("groups of " + std::to_string(group.members) + " members, " + std::to_string(stride) +
                              " apart, must make up all ranks",
                          ranks);
  if (of_group.claims.offloads)
    return not_applicable("groups take no schedule that the network's engine performs", of_group.algorithm);
  for (const BlockLayout& blocks : of_group.data->blocks)
    if (!blocks.uniform())
      return not_applicable("groups take no schedule whose blocks differ in length", of_group.algorithm);
  auto data = std::make_shared<DataLayout>(*of_group.data);
  data->ranks = ranks;
  data->buffers = [of = of_group.data, group](Rank rank) { return of->buffers(group.member(rank)); };
  NamedPrograms made;
  made.name = of_group.algorithm + " on groups of " + std::to_string(group.members);
  made.set.data = std::move(data);
  made.set.segments = of_group.segments;
  made.set.shared_bytes = of_group.shared_bytes;
  made.set.program = [program = of_group.program, group](Rank rank) {
    Program own = program(group.member(rank));
    for (Lane& lane : own.lanes) rename_peers(lane.body, group.first(rank), group.stride);
    return own;
  };
  return made;
}

} // namespace kumihimo
