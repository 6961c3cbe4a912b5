#include "schedule/accumulators.hpp"

#include <numeric>

namespace kumihimo {
namespace {

template <class F>
void for_each_chunk(Step& step, F&& fn) {
  for (Chunk* chunk : {&step.source, &step.right, &step.target})
    if (chunk->exists()) fn(*chunk);
}

template <class F>
void for_each_expression(Extent& extent, F&& fn) {
  fn(extent.part);
  for (RunList& run : extent.runs) fn(run.first), fn(run.count);
}

template <class F>
void for_each_expression(Body& body, F&& fn) {
  for (Node& node : body) {
    if (Loop* loop = std::get_if<Loop>(&node)) {
      for_each_expression(loop->body, fn);
      continue;
    }
    Round& round = std::get<Round>(node);
    fn(round.gap);
    for (Step& step : round.steps) {
      fn(step.peer);
      for_each_chunk(step, [&](Chunk& chunk) { fn(chunk.at), for_each_expression(chunk.extent, fn); });
    }
  }
}

Extent substituted(Extent extent, Variable variable, const Expression& by) {
  for_each_expression(extent, [&](Expression& e) {
    if (e.depends_on(variable)) e = e.substitute(variable, by);
  });
  return extent;
}

using Written = std::vector<Extent>;

class Resolver {
 public:
  explicit Resolver(Segments segments) : trips_{segments.count} {}

  void resolve(Body& body) {
    Body resolved;
    for (Node& node : body) {
      if (Loop* loop = std::get_if<Loop>(&node))
        resolve_loop(std::move(*loop), resolved);
      else
        resolve_round(std::get<Round>(node)), resolved.push_back(std::move(node));
    }
    body = std::move(resolved);
  }

 private:
  void resolve_round(Round& round) {
    Written targets;
    for (Step& step : round.steps) {
      if (step.source.buffer.kind == Buffer::Kind::accumulator) resolve_read(step.source);
      if (step.right.buffer.kind == Buffer::Kind::accumulator) resolve_read(step.right);
      if (step.target.buffer.kind != Buffer::Kind::accumulator) continue;
      targets.push_back(step.target.extent);
      step.target.buffer = accumulated(step.target.buffer);
    }
    written_.insert(written_.end(), std::make_move_iterator(targets.begin()), std::make_move_iterator(targets.end()));
  }

  void resolve_read(Chunk& chunk) const {
    for (const Extent& extent : written_)
      if (covers(extent, chunk.extent, trips_)) {
        chunk.buffer = accumulated(chunk.buffer);
        return;
      }
    chunk.buffer = {Buffer::Kind::input, 0};
    chunk.at = 0;
  }

  static Buffer accumulated(Buffer accumulator) {
    if (accumulator.index < 0) return {Buffer::Kind::output, 0};
    return {Buffer::Kind::scratch, accumulator.index};
  }

  // What an iteration writes is known to the next one as last iteration's targets.
  void resolve_loop(Loop loop, Body& resolved) {
    const auto depth = static_cast<std::int32_t>(trips_.size());
    const Variable variable{depth};
    const Written before = written_;
    trips_.push_back(loop.trip);

    Body first = loop.body;
    resolve(first); // as if nothing had been written by earlier iterations
    const Written of_first(written_.begin() + static_cast<std::ptrdiff_t>(before.size()), written_.end());
    written_ = before;
    Body later = loop.body;
    for (const Extent& e : of_first) written_.push_back(substituted(e, variable, variable - 1));
    resolve(later);

    written_ = before;
    for (const Extent& e : of_first) written_.push_back(substituted(e, variable, loop.trip - 1));
    trips_.pop_back();

    if (first == later) {
      loop.body = std::move(first);
      resolved.push_back(std::move(loop));
      return;
    }
    for (Node& node : instantiate(first, depth, 0)) resolved.push_back(std::move(node));
    if (loop.trip == 1) return;
    for_each_expression(later, [&](Expression& e) {
      if (e.depends_on(variable)) e = e.substitute(variable, variable + 1);
    });
    resolved.push_back(Loop{loop.trip - 1, loop.in_flight, std::move(later)});
  }

  std::vector<std::int64_t> trips_;
  Written written_;
};

bool plain(const Extent& e) {
  return e.layout == Layout::vector && e.runs.size() == 1 && e.runs[0].inner.runs == 1 && e.runs[0].outer.runs == 1;
}

bool has_accumulators(const Body& body) {
  for (const Node& node : body) {
    if (const Loop* loop = std::get_if<Loop>(&node)) {
      if (has_accumulators(loop->body)) return true;
      continue;
    }
    for (const Step& s : std::get<Round>(node).steps)
      for (const Chunk* c : {&s.source, &s.right, &s.target})
        if (c->buffer.kind == Buffer::Kind::accumulator) return true;
  }
  return false;
}

} // namespace

bool covers(const Extent& outer, const Extent& inner, std::span<const std::int64_t> trips) {
  if (outer == inner) return true;
  if (!plain(outer) || !plain(inner)) return false;
  const std::int64_t m = std::lcm(outer.parts, inner.parts), ko = m / outer.parts, ki = m / inner.parts;
  const Expression outer_first = outer.runs[0].first * ko, inner_first = inner.runs[0].first * ki;
  if ((inner_first - outer_first).range(trips).low < 0) return false;
  const Expression room = outer_first + outer.runs[0].count * ko - inner_first - inner.runs[0].count * ki;
  return room.range(trips).low >= 0;
}

Body instantiate(const Body& body, std::int32_t depth, std::int64_t value) {
  Body copy = body;
  for_each_expression(copy, [&](Expression& e) {
    const std::int32_t deepest = e.deepest();
    if (deepest < depth) return;
    e = e.substitute(Variable{depth}, value);
    for (std::int32_t d = depth + 1; d <= deepest; ++d) e = e.substitute(Variable{d}, Variable{d - 1});
  });
  return copy;
}

void resolve_accumulators(Lane& lane, Segments segments) {
  if (has_accumulators(lane.body)) Resolver(segments).resolve(lane.body);
}

} // namespace kumihimo
