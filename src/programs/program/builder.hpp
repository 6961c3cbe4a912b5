// Writing programs so that they read like the paper. A ring's reduce-scatter and allgather, at rank r:
//
//   lane.loop(P - 1, [&](Variable i) { return exchange(right, acc[B(r - i)], left, reduce_into(acc[B(r - i - 1)])); });
//   lane.loop(P - 1, [&](Variable i) { return exchange(right, out[B(r + 1 - i)], left, into(out[B(r - i)])); });
//
// `acc` is the input where this rank has not yet accumulated and the accumulator after: the builder finds out which,
// splitting the first iteration off a loop where that differs, so that nobody peels loops by hand. What may be either,
// it leaves as it is, and the program is refused.
#pragma once

#include "program/program.hpp"

#include <concepts>

namespace kumihimo {

// --- chunks ----------------------------------------------------------------------------------------------------------

// Parts [first, first + count) of m of the vector's segment.
Extent parts(Expression first, Expression count, std::int64_t m);
inline Extent part(Expression i, std::int64_t m) { return parts(std::move(i), 1, m); }
inline Extent whole() { return parts(0, 1, 1); }
// Blocks [first, first + count) of an array of blocks.
Extent blocks(Layout layout, Expression first, Expression count = 1);

struct Array {
  Buffer buffer;
  Chunk operator[](Extent extent) const { return at(0, std::move(extent)); }
  Chunk at(Expression cell, Extent extent) const { return {buffer, std::move(extent), std::move(cell)}; }
};
inline const Array in{{Buffer::Kind::input, 0}};
inline const Array out{{Buffer::Kind::output, 0}};
// Accumulates into the output; accumulate_in(scratch) accumulates in scratch.
inline const Array acc{{Buffer::Kind::accumulator, -1}};
inline Array accumulate_in(const Array& scratch) { return {{Buffer::Kind::accumulator, scratch.buffer.index}}; }

// --- steps -----------------------------------------------------------------------------------------------------------

enum class Arriving : std::uint8_t { right, left }; // on which side of the operation the received operand stands

Step send(Expression peer, Chunk source);
Step receive(Expression peer, Chunk target);
Step receive_reduce(Expression peer, Chunk own, Chunk target, Arriving side = Arriving::right);
Step receive_reduce(Expression peer, Chunk accumulator, Arriving side = Arriving::right);
Step copy(Chunk target, Chunk source);
Step reduce(Chunk target, Chunk left, Chunk right);
Step signal(Expression peer);
Step wait_signal(Expression peer);
Step offload(Chunk target, Chunk source);
Step compute(Work work);
Step offload(); // of no data: the engine's barrier

// The receiving half of an exchange, its peer named there.
Step into(Chunk target);
Step reduce_into(Chunk accumulator, Arriving side = Arriving::right);
// Sends to one rank and receives from another, at once.
Round exchange(Expression to, Chunk source, Expression from, Step receiving);

// --- programs --------------------------------------------------------------------------------------------------------

class BodyBuilder {
 public:
  explicit BodyBuilder(std::int32_t depth) : depth_(depth) {}

  void round(Round round) { body_.emplace_back(std::move(round)); }
  void round(std::vector<Step> steps, Expression gap = 0) { round(Round{std::move(steps), std::move(gap)}); }
  void step(Step one) { round(Round{{std::move(one)}, 0}); }

  // A loop of one round ...
  template <class F>
  requires std::convertible_to<std::invoke_result_t<F, Variable>, Round>
  void loop(std::int64_t trip, F&& body, std::int64_t in_flight = 1) {
    loop(
        trip, [&](BodyBuilder& b, Variable i) { b.round(body(i)); }, in_flight);
  }
  // ... and of anything.
  template <class F>
  requires std::invocable<F, BodyBuilder&, Variable>
  void loop(std::int64_t trip, F&& body, std::int64_t in_flight = 1) {
    if (trip <= 0) return;
    BodyBuilder inside(depth_ + 1);
    body(inside, Variable{depth_});
    body_.emplace_back(Loop{trip, in_flight, std::move(inside.body_)});
  }
  // Rounds and loops that start together: of sends and of receives, each with its own number in flight.
  template <class F>
  requires std::invocable<F, BodyBuilder&>
  void together(F&& body) {
    BodyBuilder inside(depth_ + 1);
    body(inside);
    body_.emplace_back(Loop{1, 1, std::move(inside.body_), true});
  }

  Body take() { return std::move(body_); }

 private:
  std::int32_t depth_;
  Body body_;
};

class LaneBuilder : public BodyBuilder {
 public:
  LaneBuilder(LaneId id, std::string role, std::int64_t window)
      : BodyBuilder(1), lane_{id, window, {}, std::move(role), {}} {}
  LaneBuilder& after(std::vector<LaneId> lanes, Scope scope) {
    return lane_.after.push_back({std::move(lanes), scope}), *this;
  }
  Lane take() { return lane_.body = BodyBuilder::take(), std::move(lane_); }

 private:
  Lane lane_;
};

class ProgramBuilder {
 public:
  explicit ProgramBuilder(Segments segments = {}) : segments_(segments) {}

  // Scratch private to a lane: `cells` cells for `units` parts of m each.
  Array scratch(LaneId lane, std::int64_t units, std::int64_t m, std::int64_t cells = 1);
  Array scratch(Scratch declaration);
  // A piece of an array of blocks: `count` of them from `first` on, cyclically.
  Array named_blocks(LaneId lane, Layout layout, std::int64_t first, std::int64_t count);

  void add(LaneBuilder lane) { program_.lanes.push_back(lane.take()); }

  // Resolves accumulators and hands the program over.
  Program finish();

 private:
  Segments segments_;
  Program program_;
};

// One lane with these steps in one round, or without a round if there are none.
Program program_of_one_round(std::vector<Step> steps, std::string role);

} // namespace kumihimo
