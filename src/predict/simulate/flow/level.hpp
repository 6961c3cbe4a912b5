// A level: the messages whose two ends have both started, with the local steps that start beside them. They share the
// network from first to last.
#pragma once

#include "fluid/resources.hpp"
#include "simulate/channel.hpp"
#include "simulate/flow/fair_shares.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace kumihimo::simulation {

struct FlowMessage { // or a local step, which is one to oneself
  Channel channel;
  std::int32_t queue = -1;                 // its queue, until it is consumed; none of a local step
  std::int32_t issuer = -1, taker = -1;    // instances; the taker is -1 if no frame waits for the message there
  std::int32_t sender = -1, receiver = -1; // frames that wait for it, if any
  bool whole_loop = false;                 // all that the sender has in a collapsed loop
  bool drifts = false;       // in iterations of a loop of several rounds: ranks may be in different rounds of it
  bool leaves_early = false; // when its sender is ready
  bool computes = false;     // `summed` is time of the processor alone, and passes no memory
  double repetitions = 1, sample_weight = 1, gap = 0; // see Posted
  double moved = 0, summed = 0;                       // bytes that flow, and those that are summed up then
  Path path;
  double start = 0, start_error = 0; // when both ends and the queue are ready; the sharing error of that
  double behind = 0;                 // that one before it keeps its queue occupied after both ends have started
  double issue_wait = 0;             // until its lane can issue it
  // Set by LevelTimes
  double sum_seconds = 0;   // of one repetition, beside the other sums of the level
  double sharing_error = 0; // seconds by which sharing lengthens it, but might not
  double late_overlap = 0;  // seconds by which messages of earlier levels may lengthen it
  double contention = 0;    // seconds by which reductions of other lanes lengthen its sum in a full pipeline

  // When its bytes begin to flow, the first of several messages at its start.
  double flows_from() const { return start + issue_wait + (repetitions > 1 ? 0 : path.cost); }
};

struct FlowLevel {
  std::vector<FlowMessage> messages;
  FlowSet flows;                                                          // of the messages
  double shortest = std::numeric_limits<double>::infinity(), longest = 0; // bytes of those that move some

  void clear() {
    messages.clear(), flows.clear();
    shortest = std::numeric_limits<double>::infinity(), longest = 0;
  }
  // Its resources are the last in `flows`.
  void add(const FlowMessage& m) {
    flows.end.push_back(static_cast<std::uint32_t>(flows.resources.size()));
    flows.limit.push_back(m.path.limit);
    messages.push_back(m);
    if (m.moved <= 0) return;
    const double bytes = m.moved * m.repetitions;
    shortest = std::min(shortest, bytes), longest = std::max(longest, bytes);
  }
  // Of the message that is to be added next.
  std::span<const Resource> open_resources() const {
    const std::size_t first = flows.end.empty() ? 0 : flows.end.back();
    return {flows.resources.data() + first, flows.resources.size() - first};
  }
  // When a message has left, with all that it stands for.
  double left(std::size_t at) const {
    const FlowMessage& m = messages[at];
    return m.start + m.issue_wait + m.repetitions * (m.path.cost + m.moved / flows.rate[at]);
  }
};

} // namespace kumihimo::simulation
