// Compiled: the programs of all ranks, each built once and flattened for a flow model to the peers and bytes of each
// round. Segments and loops of constant peers are not expanded. Bytes are the mean over all segments, so that their
// sums are exact.
#pragma once

#include "base/result.hpp"
#include "fluid/resources.hpp"
#include "program/phases.hpp"
#include "program/program_set.hpp"
#include "simulate/flow/lengths.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace kumihimo::simulation {

struct FlatStep {
  StepKind kind = StepKind::copy;
  bool exact = false; // each message has exactly `bytes` (or Length), which is no mean
  std::int32_t peer = -1;
  std::int32_t dynamic = -1; // index into Compiled::dynamic where peer or length depend on a loop's variable
  std::int32_t part = -1;    // the first of the vector's parts that it names; -1: of blocks, or none
  double gap = 0;            // bytes that its queue is idle for afterwards
  double bytes = 0;          // of one segment, mean over the segments (and over the iterations of collapsed loops)
};

// The peer, gap and length of a step that depend on a loop's variable. The whole machine has millions of such steps, so
// equal expressions are kept once.
struct DynamicStep {
  struct Length {
    Extent extent;
    std::vector<LoopRange> collapsed; // the collapsed loops around it
  };
  Expression peer, gap;
  std::unique_ptr<const Length> length; // none where it is FlatStep::bytes whatever the iteration
};

// A round (items are steps) or a loop (items are nodes).
struct FlatNode {
  bool loop = false;
  bool collapsed = false; // peers and lengths are the same in all iterations: one stands for all
  bool together = false;  // iteration i is its i-th item alone, all in flight
  std::uint32_t first = 0, count = 0;
  std::int64_t trip = 1, in_flight = 1;
  std::int32_t sample = -1; // index into Compiled::samples, of a loop of which some iterations stand for all
};

// A sampled loop (simulate/flow/sampling.hpp).
struct LoopSample {
  std::vector<std::int64_t> iterations; // walked
  double weight = 1;                    // iterations that each one walked stands for
  double flights = 1;                   // passes through the network of the iterations in flight, for each pass walked
};

// As FlatStep::part.
inline std::int32_t first_part(const Extent& extent, const LoopValues& values) {
  return extent.layout == Layout::vector ? static_cast<std::int32_t>(extent.runs[0].first.evaluate(values)) : -1;
}

struct FlatAfter {
  std::int32_t nth = 0;    // lane of the same rank
  std::int64_t behind = 0; // segments: it waits for one that is so far before its own
  Scope scope = Scope::segment;
};

// A lane whose rounds are not held: they are read a piece at a time.
struct LongLane {
  std::int64_t piece = 0;         // steps to ask for
  std::int64_t rounds = 0;        // of all pieces
  std::uint32_t widest_round = 0; // of all its rounds, in steps
};

struct LanePiece {
  std::vector<FlatNode> nodes; // rounds of these steps
  std::vector<FlatStep> steps;
  std::optional<std::int64_t> next; // position behind them; none: they are the last
};

// One lane of one rank.
struct Instance {
  std::int32_t rank = 0, lane = 0;
  std::int64_t window = 1;
  std::uint32_t first_node = 0, nodes = 0;
  std::uint32_t first_after = 0, afters = 0;
  std::int32_t long_lane = -1; // index into Compiled::long_lanes
  double reduced = 0;          // bytes that one segment reduces here
  std::int64_t sends = 0;      // rounds of one segment that send
};

struct FlatLane {
  LaneId id;
  std::int32_t instances = 0; // ranks that have it
  std::int32_t phase = 0;     // lanes after all of others run in a later phase
  std::int32_t pipeline = 0;  // lanes coupled by `after` segment are one
};

class Symmetry; // simulate/flow/symmetry.hpp

struct Compiled {
  const ProgramSet* schedule = nullptr;
  std::int64_t segments = 1;
  std::optional<std::int64_t> offloaded;     // bytes of the largest offload, if there is any
  std::vector<FlatLane> lanes;               // as numbered by `phases`
  std::vector<Instance> instances;           // by rank, then lane
  std::vector<std::uint32_t> first_instance; // of each rank; one more at the end
  std::vector<FlatNode> nodes;
  std::vector<FlatStep> steps;
  std::vector<DynamicStep> dynamic;
  std::vector<FlatAfter> afters;
  Phases phases;
  Lanes concurrency = Lanes::single;
  std::vector<char> many_peers; // by rank, see Network; empty: none has
  std::int32_t pipelines = 1;
  double all_steps = 0;           // steps of one segment, in all iterations of all loops
  double iterated_steps = 0;      // those of them in loops whose iterations are walked one by one
  double straight_steps = 0;      // all others, which are walked once
  std::uint32_t widest_round = 0; // in steps
  std::vector<LongLane> long_lanes;
  std::function<LanePiece(const Instance&, std::int64_t position)> read; // of a long lane
  std::vector<LoopSample> samples;
  std::shared_ptr<const Symmetry> symmetry; // set: the instances are those of ranks that stand for others

  // The number of iterations of a loop that are walked, and that are walked at once.
  std::int64_t walked(const FlatNode& loop) const {
    return loop.sample < 0 ? loop.trip : static_cast<std::int64_t>(samples[loop.sample].iterations.size());
  }
  std::int64_t at_once(const FlatNode& loop) const { return std::min(loop.in_flight, walked(loop)); }
  double weight(const FlatNode& loop) const { return loop.sample < 0 ? 1 : samples[loop.sample].weight; }

  double steps_at_once(const FlatNode& node) const;
  double steps_at_once() const; // of all ranks; lanes of different phases never run at once

  // Then each round has another length, and empty ones are not sent. Messages are taken to be as long as the mean over
  // a loop's rounds.
  bool has_unequal_blocks() const {
    return std::ranges::any_of(schedule->data->blocks, [](const BlockLayout& blocks) { return !blocks.uniform(); });
  }

  double walked_steps() const { return iterated_steps + straight_steps; }

  std::span<const FlatAfter> after(const Instance& i) const { return {afters.data() + i.first_after, i.afters}; }
};

// Compiles all programs. Without a network compute steps take no time. Errors: a peer or gap that changes from segment
// to segment; a peer that is no rank. The walk checks the peers that depend on a loop's variable.
Result<Compiled> compile(const ProgramSet& schedule, const NetworkPaths* network);

} // namespace kumihimo::simulation
