#include "krylov_programs/stages.hpp"

#include "krylov_programs/embedded.hpp"
#include "program/builder.hpp"

#include <algorithm>

namespace kumihimo::krylov_programs {

Lanes operator+(Lanes a, const Lanes& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

Lanes Stages::compute(const Lanes& after, Work work, const char* role) {
  const LaneId id{next_lane_++};
  const bool none = !setting_.computing || (work.bytes == 0 && work.flops == 0);
  if (none) return after;
  LaneBuilder lane(id, role, 1);
  if (!after.empty()) lane.after(after, Scope::segment);
  lane.step(kumihimo::compute(work));
  program_.lanes.push_back(lane.take());
  return {id};
}

Lanes Stages::vectors(const Lanes& after, double bytes_per_row, const char* role) {
  const double rows = static_cast<double>(setting_.cells * setting_.application.fields), bytes = rows * bytes_per_row;
  return compute(after, {0, bytes / 8, bytes}, role); // one operation for each number read or written, at most
}

Lanes Stages::precondition(const Lanes& after) {
  const auto cells = static_cast<double>(setting_.cells);
  return compute(after, {0, cells * setting_.preconditioner.flops, cells * setting_.preconditioner.bytes},
                 "preconditioner");
}

Lanes Stages::product(const Lanes& after) {
  Lanes exchange;
  const std::int32_t lane = next_lane_++;
  if (setting_.halos)
    exchange = embed(program_, setting_.exchange.program(rank_),
                     {setting_.elements, 0, setting_.exchange.data->elements}, lane, after);
  Halo whole = setting_.halo;
  whole.compute_seconds = 1;
  const double inside = whole.interior_seconds();
  const auto cells = static_cast<double>(setting_.cells);
  const auto part = [&](double share) {
    return Work{0, share * cells * setting_.application.flops, share * cells * setting_.application.bytes};
  };
  const Lanes interior = compute(after, part(inside), "interior");
  return compute(exchange + interior, part(1 - inside), "boundary");
}

Lanes Stages::reduce(const Lanes& after, std::int64_t values) {
  const ProgramSet& set = setting_.sums.at(values);
  const std::int64_t first = setting_.exchange.data->elements + values_;
  values_ += values;
  const std::int32_t lane = next_lane_;
  next_lane_ += lanes_of_reduction;
  if (!setting_.reductions) return after;
  const Lanes lanes = embed(program_, set.program(rank_), {setting_.elements, first, values}, lane, after);
  return lanes.empty() ? after : lanes;
}

} // namespace kumihimo::krylov_programs
