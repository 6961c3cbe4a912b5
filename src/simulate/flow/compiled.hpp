// The programs of all ranks, each built once and flattened to what a flow model needs: who exchanges how many bytes
// with whom in which round. Segments and loops of constant peers stay symbols; bytes are the mean over all segments, so
// that their sums are exact.
#pragma once

#include "base/result.hpp"
#include "schedule/schedule.hpp"
#include "simulate/flow/lengths.hpp"
#include "simulate/phases.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kumihimo::simulation {

struct FlatStep {
  StepKind kind = StepKind::copy;
  std::int32_t peer = -1;
  std::int32_t dynamic = -1; // index into Compiled::dynamic where peer or length depend on a loop's variable
  double gap = 0;            // bytes that its queue is idle for afterwards
  double bytes = 0;          // of one segment, mean over the segments (and over the iterations of collapsed loops)
};

struct DynamicStep {
  Expression peer, gap;
  Extent extent;
  std::vector<LoopRange> collapsed; // the collapsed loops around it
};

// A round (items are steps) or a loop (items are nodes).
struct FlatNode {
  bool loop = false;
  bool collapsed = false; // peers and lengths are the same in all iterations: one stands for all
  std::uint32_t first = 0, count = 0;
  std::int64_t trip = 1, in_flight = 1;
};

struct FlatAfter {
  std::int32_t lane = 0; // index of a lane
  Scope scope = Scope::segment;
};

// One lane of one rank.
struct Instance {
  std::int32_t rank = 0, lane = 0;
  std::int64_t window = 1;
  std::uint32_t first_node = 0, nodes = 0;
  std::uint32_t first_after = 0, afters = 0;
  double reduced = 0;     // bytes that one segment reduces here
  std::int64_t sends = 0; // rounds of one segment that send
};

struct FlatLane {
  LaneId id;
  std::int32_t instances = 0; // ranks that have it
  std::int32_t phase = 0;     // lanes after all of others run in a later phase
  std::int32_t group = 0;     // lanes coupled by `after` segment are one pipeline; numbered from 0
};

struct Compiled {
  const Schedule* schedule = nullptr;
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
  double iterated_steps = 0; // of loops whose iterations are walked one by one, all of them added up
  // Of the loop of each lane that is sampled (simulate/flow/sampled.hpp), the iterations that are walked.
  std::vector<std::int64_t> sample;

  std::span<const FlatAfter> after(const Instance& i) const { return {afters.data() + i.first_after, i.afters}; }
};

// Errors: a peer or gap that changes from segment to segment; a peer that is no rank. Peers that depend on a loop's
// variable are only known to the sweep, which says so then.
Result<Compiled> compile(const Schedule& schedule);

} // namespace kumihimo::simulation
