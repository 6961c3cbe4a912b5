// Program of one rank, which names data and peers by expressions, so that its memory is proportional to its lanes and
// loops (ADR 0001).
//
//   Program > Lane > Loop > Round > Step
//
// Lanes run at the same time. Segments are one implicit outer loop over every lane; segment s of a lane starts once all
// up to s - window are complete at this rank, in order, and so do iterations of a loop with `in_flight`. Steps of a
// round start together, in the order written; the next round starts when all are complete. The rounds and loops of a
// loop that is `together` start together, too. The k-th send of segment s on lane l from a to b is received by the k-th
// receive of segment s on lane l at b from a, in program order. All expressions may use the variables of the enclosing
// loops; variable 0 is the segment.
#pragma once

#include "base/expression.hpp"
#include "base/ids.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace kumihimo {

// --- data ------------------------------------------------------------------------------------------------------------

// Layout in which an extent counts, an index into what DataLayout declares. `vector`: parts of one vector. The others:
// blocks of an array, as the rank's input or output buffer holds it, or in an order that the program set declares for
// itself, which no buffer has; a named scratch is a piece of such an array.
enum class Layout : std::uint8_t { vector, input_blocks, output_blocks };
constexpr bool is_declared(Layout layout) { return layout > Layout::output_blocks; } // beyond those of the buffers
// The n-th layout that a set declares beyond those of its buffers.
constexpr Layout declared_layout(std::uint8_t n) {
  return static_cast<Layout>(static_cast<std::uint8_t>(Layout::output_blocks) + 1 + n);
}

// first, first+1, ..., first+count-1; that `runs` times, `stride` apart; and all of it again. Strides may be negative.
struct Repeat {
  std::int64_t stride = 0;
  std::int64_t runs = 1;
  bool operator==(const Repeat&) const = default;
};
struct RunList {
  Expression first;
  Expression count = 1;
  Repeat inner, outer;
  bool operator==(const RunList&) const = default;
  // The least and the greatest distance of a run from the first one.
  Range spread() const {
    const std::int64_t i = (inner.runs - 1) * inner.stride, o = (outer.runs - 1) * outer.stride;
    return {std::min<std::int64_t>(i, 0) + std::min<std::int64_t>(o, 0),
            std::max<std::int64_t>(i, 0) + std::max<std::int64_t>(o, 0)};
  }
  // [low, high): all units that the runs may name; trips[d] is the trip count of the loop at depth d.
  Range hull(std::span<const std::int64_t> trips) const {
    return {first.range(trips).low + spread().low, (first + count).range(trips).high + spread().high};
  }
};

inline constexpr std::int64_t most_run_lists = 8;

// A named set of elements, in the order of its runs. In the vector layout the units of the runs are parts: the current
// segment is cut in `parts`. Part i of m over n elements starts at floor(i n / m), and segment s of S is part s of S,
// so that refined parts nest. In the block layouts the units are blocks, and of each block's segment only part `part`
// of `parts` is meant. An extent has 1 to most_run_lists run lists. So a cyclic range, or a box of several arrays, is
// one extent.
struct Extent {
  Layout layout = Layout::vector;
  std::int64_t parts = 1;
  Expression part = 0; // block layouts alone
  std::vector<RunList> runs;
  bool operator==(const Extent&) const = default;
};

struct Buffer {
  enum class Kind : std::uint8_t {
    none,
    input,
    output,
    scratch,
    accumulator
  }; // accumulator: the builder's, which resolves it; where it cannot, verify and the executors refuse the program
  Kind kind = Kind::none;
  std::int32_t index = 0; // of scratch: into Program::scratch
  bool operator==(const Buffer&) const = default;
};

// Where data lies: an extent of the input or output buffer, or the same data packed at cell `at` of a scratch buffer.
struct Chunk {
  Buffer buffer;
  Extent extent;
  Expression at = 0;
  bool operator==(const Chunk&) const = default;
  bool exists() const { return buffer.kind != Buffer::Kind::none; }
};

// Scratch of one rank: `cells` cells, each large enough for `units` units (parts of `parts`, or blocks) of any segment,
// one copy for each window slot of its lane. A named one is a piece of an array of blocks instead: blocks first ..
// first + units - 1, cyclically, of all segments, each where its name puts it, or a whole vector; its one cell is 0.
// Private to one lane, or shared by all lanes of the rank; a shared slot is reused only when every lane that is `after`
// its writer has finished that segment. A named one is never reused.
struct Scratch {
  LaneId lane;
  bool shared = false;
  Layout layout = Layout::vector;
  std::int64_t parts = 1;
  std::int64_t units = 1;
  std::int64_t cells = 1;
  bool named = false;
  std::int64_t first = 0; // of a named one
  bool operator==(const Scratch&) const = default;
};

// --- steps -----------------------------------------------------------------------------------------------------------

enum class StepKind : std::uint8_t {
  send,
  receive,
  receive_reduce,
  copy,
  reduce,
  signal,
  wait_signal,
  offload,
  compute
};
std::string_view name_of(StepKind kind);
constexpr bool sends(StepKind kind) { return kind == StepKind::send || kind == StepKind::signal; }
constexpr bool receives(StepKind kind) {
  return kind == StepKind::receive || kind == StepKind::receive_reduce || kind == StepKind::wait_signal;
}
constexpr bool is_signal(StepKind kind) { return kind == StepKind::signal || kind == StepKind::wait_signal; }
constexpr bool has_data(StepKind kind, bool has_chunks) {
  return !is_signal(kind) && kind != StepKind::compute && (kind != StepKind::offload || has_chunks);
}

// Work of a rank's processor in a compute step: some time, and operations and memory traffic that take as long as a
// machine's rates say, the longer of the two.
struct Work {
  double seconds = 0, flops = 0, bytes = 0;
  bool operator==(const Work&) const = default;
};

// send: source to peer.                        receive: target from peer.
// receive_reduce: target = op(left, right), where one of the two is the arriving data and the other is `source`.
// copy: target = source.                       reduce: target = op(source, right).
// signal, wait_signal: no data, but they match. offload: target = what the network's engine makes of all sources; of
// one without chunks, the engine's barrier, nothing but that all have come. compute: `work`, and no data.
// A data step whose extent is empty sends nothing and synchronises nothing. Messages to oneself are legal.
struct Step {
  StepKind kind = StepKind::copy;
  bool arriving_left = false; // receive_reduce: the arriving operand is the left one
  Expression peer = -1;
  Chunk source, right, target;
  Work work = {}; // compute

  bool sends() const { return kumihimo::sends(kind); }
  bool receives() const { return kumihimo::receives(kind); }
  bool is_signal() const { return kumihimo::is_signal(kind); }
  bool has_data() const { return kumihimo::has_data(kind, source.exists() || target.exists()); }
  bool reduces() const { return kind == StepKind::receive_reduce || kind == StepKind::reduce; }
  // The extent whose length is the step's: of the message, or of the local data moved.
  const Extent& extent() const { return kind == StepKind::send ? source.extent : target.extent; }
  bool operator==(const Step&) const = default;
};

// Steps that start together. `gap` (pacing): after each of the round's messages has left, the queue from its sender to
// its peer on its lane stays idle for as long as `gap` bytes take on its path. Executors may ignore it.
struct Round {
  std::vector<Step> steps;
  Expression gap = 0;
  bool operator==(const Round&) const = default;
};

struct Loop;
using Node = std::variant<Round, Loop>;
using Body = std::vector<Node>;

struct Loop {
  std::int64_t trip = 0;
  std::int64_t in_flight = 1; // iterations at once; 1 is sequential
  Body body;
  bool together = false; // of one iteration: its rounds and loops start together, instead of one after the other
  bool operator==(const Loop&) const = default;
};

// --- programs --------------------------------------------------------------------------------------------------------

enum class Scope : std::uint8_t { segment, all };

// This lane's segment s waits, at this rank, for segment s (or all) of those lanes; lanes that the rank lacks are
// ignored.
struct After {
  std::vector<LaneId> lanes;
  Scope scope = Scope::segment;
  bool operator==(const After&) const = default;
};

struct Lane {
  LaneId id;
  std::int64_t window = 1; // segments in flight
  std::vector<After> after;
  std::string role; // for people: "reduce, tree 0"
  Body body;
  bool operator==(const Lane&) const = default;
};

struct Program {
  std::vector<Lane> lanes; // by ascending id, no id twice
  std::vector<Scratch> scratch;
  bool operator==(const Program&) const = default;
};

struct Segments {
  std::int64_t count = 1;
  bool operator==(const Segments&) const = default;
};

// The values of the loop variables that enclose a step; values[0] is the segment.
using Values = std::span<const std::int64_t>;
inline constexpr std::int32_t max_depth = 8; // the segment and seven nested loops
using LoopValues = std::array<std::int64_t, max_depth>;

} // namespace kumihimo
