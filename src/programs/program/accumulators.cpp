#include "program/accumulators.hpp"

#include <algorithm>
#include <limits>
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

using Written = std::vector<Extent>;

constexpr std::int32_t first_free = 16; // variables of iterations that are over, beyond those of loops

class AccumulatorResolver {
 public:
  explicit AccumulatorResolver(Segments segments) : trips_{segments.count} {}

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
    std::vector<std::int64_t> trips = trips_;
    trips.resize(first_free, 1);
    trips.insert(trips.end(), over_.begin(), over_.end());
    const auto apart = [&](const Extent& extent) { return disjoint(extent, chunk.extent, trips); };
    if (!std::all_of(written_.begin(), written_.end(), apart) || !std::all_of(maybe_.begin(), maybe_.end(), apart))
      return; // input or accumulator: it stays unresolved, and no schedule with it is accepted
    chunk.buffer = {Buffer::Kind::input, 0};
    chunk.at = 0;
  }

  // Extents written in each iteration: those of any of `trips` others, the k-th being `iteration` less k.
  void remember(const Written& extents, Variable variable, const Expression& iteration, std::int64_t trips) {
    if (trips <= 0) return;
    const Variable other{first_free + static_cast<std::int32_t>(over_.size())};
    over_.push_back(trips);
    for (const Extent& e : extents) maybe_.push_back(substituted(e, variable, iteration - Expression(other)));
  }

  static Buffer accumulated(Buffer accumulator) {
    if (accumulator.index < 0) return {Buffer::Kind::output, 0};
    return {Buffer::Kind::scratch, accumulator.index};
  }

  // The next iteration knows the extents that this one writes as last iteration's targets.
  void resolve_loop(Loop loop, Body& resolved) {
    // Which of the parts that start together sums first, nobody knows: their accumulators stay unresolved.
    if (loop.together || !has_accumulators(loop.body)) return resolved.push_back(std::move(loop));
    const auto depth = static_cast<std::int32_t>(trips_.size());
    const Variable variable{depth};
    const Written before = written_, maybe_before = maybe_;
    trips_.push_back(loop.trip);

    Body first = loop.body;
    resolve(first); // as if nothing had been written by earlier iterations
    const Written of_first(written_.begin() + static_cast<std::ptrdiff_t>(before.size()), written_.end());
    Written by_each = of_first; // and what inner loops may have written
    by_each.insert(by_each.end(), maybe_.begin() + static_cast<std::ptrdiff_t>(maybe_before.size()), maybe_.end());
    written_ = before, maybe_ = maybe_before;
    Body later = std::move(loop.body);
    remember(by_each, variable, variable - 1, loop.trip - 1);
    for (const Extent& e : of_first) written_.push_back(substituted(e, variable, variable - 1));
    resolve(later);

    written_ = before, maybe_ = maybe_before;
    for (const Extent& e : of_first) written_.push_back(substituted(e, variable, loop.trip - 1));
    remember(by_each, variable, loop.trip - 1, loop.trip);
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

  std::vector<std::int64_t> trips_, over_; // of the loops around; of the variables of iterations that are over
  Written written_, maybe_;                // for sure, and in some iteration
};

bool plain(const Extent& e) { return e.runs.size() == 1 && e.runs[0].inner.runs == 1 && e.runs[0].outer.runs == 1; }

// Whether their units can be compared: parts of one vector, or the same part of blocks of one array.
bool comparable(const Extent& a, const Extent& b) {
  return a.layout == b.layout && (a.layout == Layout::vector || (a.parts == b.parts && a.part == b.part));
}

} // namespace

bool covers(const Extent& outer, const Extent& inner, std::span<const std::int64_t> trips) {
  if (outer == inner) return true;
  if (!plain(outer) || !plain(inner) || !comparable(outer, inner)) return false;
  const bool vector = outer.layout == Layout::vector;
  const std::int64_t m = vector ? std::lcm(outer.parts, inner.parts) : 1, ko = vector ? m / outer.parts : 1,
                     ki = vector ? m / inner.parts : 1;
  const Expression outer_first = outer.runs[0].first * ko, inner_first = inner.runs[0].first * ki;
  if ((inner_first - outer_first).range(trips).low < 0) return false;
  const Expression room = outer_first + outer.runs[0].count * ko - inner_first - inner.runs[0].count * ki;
  return room.range(trips).low >= 0;
}

namespace {

// Whether two cyclic positions k (e mod m) + c never meet: their difference is never a multiple of m.
bool apart_in_turn(const Expression& a, const Expression& b, std::span<const std::int64_t> trips) {
  if (a.terms().size() != 1 || b.terms().size() != 1 || a.constant() != b.constant()) return false;
  const Expression::Term &x = a.terms()[0], &y = b.terms()[0];
  if (x.kind != Expression::Term::Kind::modulo || y.kind != x.kind || x.modulus != y.modulus) return false;
  if (x.coefficient != y.coefficient) return false;
  const Range r = (*x.argument - *y.argument).range(trips);
  const std::int64_t below = r.low - 1 - floor_mod(r.low - 1, x.modulus); // the last multiple below
  return below + x.modulus > r.high;
}

// The units that an extent's run lists may name.
Range hull(const Extent& e, std::span<const std::int64_t> trips) {
  Range all{std::numeric_limits<std::int64_t>::max(), std::numeric_limits<std::int64_t>::min()};
  for (const RunList& list : e.runs) {
    const Range units = list.hull(trips);
    all = {std::min(all.low, units.low), std::max(all.high, units.high)};
  }
  return all;
}

} // namespace

bool disjoint(const Extent& a, const Extent& b, std::span<const std::int64_t> trips) {
  if (a.layout != b.layout) return false;
  const bool vector = a.layout == Layout::vector;
  const std::int64_t m = vector ? std::lcm(a.parts, b.parts) : 1, ka = vector ? m / a.parts : 1,
                     kb = vector ? m / b.parts : 1;
  const Range x = hull(a, trips), y = hull(b, trips);
  if (x.high * ka <= y.low * kb || y.high * kb <= x.low * ka) return true;
  if (!plain(a) || !plain(b)) return false;
  const Expression first_a = a.runs[0].first * ka, first_b = b.runs[0].first * kb;
  const Expression end_a = first_a + a.runs[0].count * ka, end_b = first_b + b.runs[0].count * kb;
  if ((first_b - end_a).range(trips).low >= 0 || (first_a - end_b).range(trips).low >= 0) return true;
  return a.parts == b.parts && a.runs[0].count == Expression(1) && b.runs[0].count == Expression(1) &&
         apart_in_turn(a.runs[0].first, b.runs[0].first, trips);
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
  if (has_accumulators(lane.body)) AccumulatorResolver(segments).resolve(lane.body);
}

} // namespace kumihimo
