#include "krylov_programs/embedded.hpp"

#include <fmt/format.h>

#include <variant>

namespace kumihimo::krylov_programs {
namespace {

Status check_parts(std::int64_t parts, Layout layout, std::int64_t length) {
  if (layout != Layout::vector) return not_applicable("an iteration takes no allreduce whose data is in blocks");
  if (length % parts != 0)
    return not_applicable(
        fmt::format("an iteration takes no allreduce that cuts {} values in {} parts", length, parts));
  return Nothing{};
}

Status check_chunk(const Chunk& chunk, std::int64_t length) {
  return chunk.exists() ? check_parts(chunk.extent.parts, chunk.extent.layout, length) : Status(Nothing{});
}

Status check_body(const Body& body, std::int64_t length) {
  for (const Node& node : body) {
    if (const Loop* const loop = std::get_if<Loop>(&node)) {
      if (Status s = check_body(loop->body, length); !s) return s;
      continue;
    }
    for (const Step& step : std::get<Round>(node).steps)
      for (const Chunk* const chunk : {&step.source, &step.right, &step.target})
        if (Status s = check_chunk(*chunk, length); !s) return s;
  }
  return Nothing{};
}

class VectorEmbedding {
 public:
  VectorEmbedding(const VectorPlace& place, std::int32_t first_scratch)
      : place_(place), first_scratch_(first_scratch) {}

  void chunk(Chunk& c) const {
    if (!c.exists()) return;
    if (c.buffer.kind == Buffer::Kind::scratch) c.buffer.index += first_scratch_;
    const std::int64_t unit = place_.length / c.extent.parts;
    for (RunList& run : c.extent.runs) {
      run.first = run.first * unit + place_.first;
      run.count = run.count * unit;
      run.inner.stride *= unit;
      run.outer.stride *= unit;
    }
    c.extent.parts = place_.elements;
  }
  void body(Body& nodes) const {
    for (Node& node : nodes) {
      if (Loop* const loop = std::get_if<Loop>(&node)) {
        body(loop->body);
        continue;
      }
      for (Step& step : std::get<Round>(node).steps)
        for (Chunk* const c : {&step.source, &step.right, &step.target}) chunk(*c);
    }
  }

 private:
  const VectorPlace& place_;
  std::int32_t first_scratch_;
};

} // namespace

Status check_embeddable(const Program& part, std::int64_t length) {
  for (const Scratch& scratch : part.scratch) {
    if (scratch.named) return not_applicable("an iteration takes no allreduce whose scratch names blocks");
    if (Status s = check_parts(scratch.parts, scratch.layout, length); !s) return s;
  }
  for (const Lane& lane : part.lanes)
    if (Status s = check_body(lane.body, length); !s) return s;
  return Nothing{};
}

std::vector<LaneId> embed(Program& whole, const Program& part, const VectorPlace& place, std::int32_t first_lane,
                          const std::vector<LaneId>& after) {
  const auto first_scratch = static_cast<std::int32_t>(whole.scratch.size());
  const VectorEmbedding embedding(place, first_scratch);
  const auto moved = [&](LaneId id) { return LaneId{id.value + first_lane}; };
  for (Scratch scratch : part.scratch) {
    scratch.lane = moved(scratch.lane);
    scratch.units *= place.length / scratch.parts;
    scratch.parts = place.elements;
    whole.scratch.push_back(std::move(scratch));
  }
  std::vector<LaneId> ids;
  for (Lane lane : part.lanes) {
    lane.id = moved(lane.id);
    for (After& each : lane.after)
      for (LaneId& id : each.lanes) id = moved(id);
    if (!after.empty()) lane.after.push_back({after, Scope::segment});
    embedding.body(lane.body);
    ids.push_back(lane.id);
    whole.lanes.push_back(std::move(lane));
  }
  return ids;
}

} // namespace kumihimo::krylov_programs
