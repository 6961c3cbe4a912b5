#include "program/builder.hpp"

#include "program/accumulators.hpp"

#include <algorithm>

namespace kumihimo {

Extent parts(Expression first, Expression count, std::int64_t m) {
  return {Layout::vector, m, 0, {RunList{std::move(first), std::move(count), {}, {}}}};
}
Extent blocks(Layout layout, Expression first, Expression count) {
  return {layout, 1, 0, {RunList{std::move(first), std::move(count), {}, {}}}};
}

namespace {
Step make_step(StepKind kind, Expression peer) {
  Step s;
  s.kind = kind;
  s.peer = std::move(peer);
  return s;
}
} // namespace

Step send(Expression peer, Chunk source) {
  Step s = make_step(StepKind::send, std::move(peer));
  s.source = std::move(source);
  return s;
}
Step receive(Expression peer, Chunk target) {
  Step s = make_step(StepKind::receive, std::move(peer));
  s.target = std::move(target);
  return s;
}
Step receive_reduce(Expression peer, Chunk own, Chunk target, Arriving side) {
  Step s = make_step(StepKind::receive_reduce, std::move(peer));
  s.arriving_left = side == Arriving::left;
  s.source = std::move(own);
  s.target = std::move(target);
  return s;
}
Step receive_reduce(Expression peer, Chunk accumulator, Arriving side) {
  Chunk own = accumulator;
  return receive_reduce(std::move(peer), std::move(own), std::move(accumulator), side);
}
Step copy(Chunk target, Chunk source) {
  Step s = make_step(StepKind::copy, -1);
  s.source = std::move(source);
  s.target = std::move(target);
  return s;
}
Step reduce(Chunk target, Chunk left, Chunk right) {
  Step s = make_step(StepKind::reduce, -1);
  s.source = std::move(left);
  s.right = std::move(right);
  s.target = std::move(target);
  return s;
}
Step signal(Expression peer) { return make_step(StepKind::signal, std::move(peer)); }
Step wait_signal(Expression peer) { return make_step(StepKind::wait_signal, std::move(peer)); }
Step offload(Chunk target, Chunk source) {
  Step s = copy(std::move(target), std::move(source));
  s.kind = StepKind::offload;
  return s;
}
Step compute(Work work) {
  Step s = make_step(StepKind::compute, -1);
  s.work = work;
  return s;
}
Step offload() { return make_step(StepKind::offload, -1); }

Step into(Chunk target) { return receive(-1, std::move(target)); }
Step reduce_into(Chunk accumulator, Arriving side) { return receive_reduce(-1, std::move(accumulator), side); }

Round exchange(Expression to, Chunk source, Expression from, Step receiving) {
  receiving.peer = std::move(from);
  Round round;
  round.steps.push_back(send(std::move(to), std::move(source)));
  round.steps.push_back(std::move(receiving));
  return round;
}

Array ProgramBuilder::scratch(LaneId lane, std::int64_t units, std::int64_t m, std::int64_t cells) {
  return scratch(Scratch{lane, false, Layout::vector, m, units, cells});
}
Array ProgramBuilder::scratch(Scratch declaration) {
  program_.scratch.push_back(declaration);
  return {{Buffer::Kind::scratch, static_cast<std::int32_t>(program_.scratch.size()) - 1}};
}

Array ProgramBuilder::named_blocks(LaneId lane, Layout layout, std::int64_t first, std::int64_t count) {
  return scratch(Scratch{lane, false, layout, 1, count, 1, true, first});
}

Program ProgramBuilder::finish() {
  std::sort(program_.lanes.begin(), program_.lanes.end(), [](const Lane& a, const Lane& b) { return a.id < b.id; });
  for (Lane& lane : program_.lanes) resolve_accumulators(lane, segments_);
  return std::move(program_);
}

Program program_of_one_round(std::vector<Step> steps, std::string role) {
  ProgramBuilder program;
  LaneBuilder lane(LaneId{0}, std::move(role), 1);
  if (!steps.empty()) lane.round(std::move(steps));
  program.add(std::move(lane));
  return program.finish();
}

} // namespace kumihimo
