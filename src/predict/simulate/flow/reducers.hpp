// The reducing thread of each rank and the memory of each node, which the sums and compute steps of a level share.
#pragma once

#include "simulate/flow/compiled.hpp"
#include "simulate/flow/level.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace kumihimo::simulation {

class Reducers {
 public:
  explicit Reducers(const NetworkPaths& network);

  // In a full pipeline a reduction also waits for all else that its rank reduces for one segment of the phase.
  void begin_pipeline(const Compiled& compiled, std::int32_t phase);

  // Sets the seconds and the contention of all sums of the level. What it counts is forgotten by end().
  void begin(FlowLevel& level);
  void end(const FlowLevel& level);

  // Seconds of a sum without others.
  double alone(const FlowMessage& m) const;
  // Of a sum of the level: whether it shares the thread of its rank, or the memory of its node.
  bool shares_thread(const FlowMessage& m) const { return here_[m.channel.to] > 1; }
  bool shares_memory(const FlowMessage& m) const;

 private:
  const std::int32_t& on_node(std::int32_t rank) const { return on_node_[network_.nodes()[rank]]; }
  std::int32_t& on_node(std::int32_t rank) { return on_node_[network_.nodes()[rank]]; }
  double rate(const FlowMessage& m, std::int32_t here, std::int32_t on_node) const;
  void share_by_length(FlowLevel& level);
  double contention(const FlowMessage& m) const;

  const NetworkPaths& network_;
  std::vector<std::int32_t> here_, on_node_; // sums of the level, by rank and by node; compute steps use no memory
  std::vector<std::pair<std::int32_t, std::uint32_t>> by_rank_; // sums that are not alone: rank and message
  std::vector<double> of_segment_; // bytes that each rank reduces for a segment; empty: no pipeline
  double share_of_byte_ = 0;       // one over the most of them
};

} // namespace kumihimo::simulation
