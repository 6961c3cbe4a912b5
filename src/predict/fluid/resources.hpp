// A machine as the flow models see it: numbered resources with capacities. A message occupies some of them and has
// fixed costs. The resources are:
//   - each directed link
//   - the sending and the receiving engines of each node
//   - the memory of each node, for copies and sums of its ranks
//   - the reducing thread of each rank
//   - with numbers of copies: the processor of each rank, which copies; and those of each node together, which copy and
//     which sum up
//   - of pairs of nodes, what they exchange (network.exchange_bandwidth)
//   - all links together, and the ends of messages (network.total_bandwidth)
//   - the processors that all nodes share (software.processors), in seconds
//   - of each rank, the engine that receives for it (software.lane_bandwidth)
//   - on a single node, the links out of and into each group of a level
#pragma once

#include "base/result.hpp"
#include "machine/job.hpp"
#include "program/data_layout.hpp"
#include "program/program.hpp"

#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::simulation {

using Resource = std::int32_t;

// What a message costs beside its share of the resources.
struct Path {
  double limit = 0;   // bytes per second: one engine, and the slowest link of the route alone
  double cost = 0;    // seconds during which its lane's queue is busy before bytes flow
  double latency = 0; // seconds from the last byte's departure to the start of what waited for it
  double taking = 0;  // seconds behind these, during which the receiving lane takes no other message
  bool eager = false; // copied at both ends, it leaves when its sender is ready (of machines with eager_bytes)
};

// Of a program: whether a rank has lanes at work at the same time (SoftwareNumbers::lane_bandwidth, put_setup), and
// whether anything is summed up then (put_sum_latency).
enum class Lanes : std::uint8_t { single, concurrent, summing };

struct Transfer {
  std::int32_t from = 0, to = 0; // ranks
  double bytes = 0;
  Lanes lanes = Lanes::single;
  bool many_peers = false; // of one of its ends (SoftwareNumbers::eager_peers)
  bool summed = false;     // the receiver sums it up, which append_sum() counts, and does not copy it
};

class NetworkPaths {
 public:
  // `placement`: none for block order. The job must outlive the network. `rank_bytes`: of the buffers of a rank, which
  // say what caches its data are in.
  static Result<NetworkPaths> make(const Job& job, std::int32_t ranks, const std::optional<Placement>& placement,
                                   bool scalar_reduction, double rank_bytes = 0);

  // Appends the resources of a message from one rank to another. A resource that each byte uses twice is appended twice
  // and so has half its capacity for it: a copy reads and writes the node's memory, a sum reads twice and writes.
  Path append_path(const Transfer& transfer, std::vector<Resource>& resources) const;
  bool has_many_peers(const Program& program) const;
  // The exchange of addresses before each phase, numbered from 0 (SoftwareNumbers::put_setup, put_turn_latency), and
  // before the first one what a longest buffer of so many bytes takes (register_latency).
  double setup_seconds(Lanes lanes, std::size_t phase, double bytes) const;
  // Whether a message leaves when its sender is ready, not only when both ends are: a short one, also in collapsed
  // loops of the flow model; and an eager one.
  bool leaves_early(double bytes) const { return bytes <= early_bytes_; }
  bool is_eager(const Transfer& transfer) const;
  bool has_eager() const { return eager_bytes_ < infinity_; }
  bool limits_exchanges() const { return exchange_ > 0; }
  bool limits_all_links() const { return all_links_ >= 0; }
  // Seconds of a shared processor at each end of a message between nodes; 0: it has message_cost and relay_latency.
  double processor_time() const { return processor_time_; }
  bool takes_processors(std::int32_t from, std::int32_t to) const {
    return processor_time_ > 0 && node_[from] != node_[to];
  }
  Resource processors() const { return processors_; }
  double relay_latency() const { return relay_latency_; }
  double burst_bytes() const { return burst_; } // that idle links pass at once
  void append_copy(std::int32_t rank, std::vector<Resource>& resources) const;
  void append_sum(std::int32_t rank, std::vector<Resource>& resources) const;

  const std::vector<double>& capacities() const { return capacity_; } // bytes per second, by Resource
  Resource reducer(std::int32_t rank) const { return first_reducer_ + rank; }
  Resource memory(std::int32_t rank) const { return first_memory_ + node_[rank]; }
  double reduction_rate(std::int32_t rank) const { return capacity_[reducer(rank)]; }
  // How many times longer sums and copies take that do not fit in the cache.
  double slowdown(double bytes) const { return bytes > cached_bytes_ ? uncached_ : 1; }
  double factor(std::int32_t rank) const { return factor_[node_[rank]]; } // of the speed of its node, if that is slow
  double reduction_cost(std::int32_t rank) const { return reduction_cost_ / factor_[node_[rank]]; } // seconds a sum
  // A compute step at a rank: flops by the node's rate, bytes by its memory bandwidth; the ranks on the node share both
  // equally.
  double seconds_of(const Work& work, std::int32_t rank) const; // asked only after can_compute
  Status can_compute(const Work& work) const; // not_applicable: flops on a machine without a flop_rate
  double copy_rate(std::int32_t rank) const {
    return has_copies() ? capacity_[copier(rank)] : between(rank, rank).rate * factor_[node_[rank]];
  }
  // Fewest seconds from one rank to another of its node, for messages relayed or not.
  double least_latency_within_node(std::int32_t from, std::int32_t to) const;
  // Bytes per second of one sum of so many bytes, while `here` sums run at this rank and `on_node` on its node.
  double sum_rate(std::int32_t rank, std::int32_t here, std::int32_t on_node, double bytes) const;

  // Whether the network's own engine takes this many bytes; none: the schedule has no offload. not_applicable: the
  // machine has no engine, or the engine takes fewer bytes, or lacks the operation.
  Status can_offload(const DataLayout& data, std::optional<std::int64_t> bytes) const;
  // Whether the machine has an engine with this operation; none: an engine that hands data out.
  bool offloads(DataType type, std::optional<Operation> operation) const;
  double offload_seconds(std::int64_t ranks) const; // of one call; asked only after can_offload

  bool is_link(Resource r) const { return r < link_bound_; }
  std::int32_t link_bound() const { return link_bound_; }
  std::string name_of(Resource resource) const;

  // Until all ranks of a node that share its processors have had their turn, as each message waits for them; 0 where
  // each rank has a processor. The first turn is that of the call itself.
  double turn_seconds(std::int32_t node) const { return shares_processors(node) ? turns_on(node) * switch_ : 0; }
  double longest_turn() const;

  double message_cost() const { return message_cost_; }
  const Machine& machine() const { return *machine_; }
  const std::vector<std::int32_t>& nodes() const { return node_; } // by rank

 private:
  // Between ranks of a node whose innermost common group is of this level; the first level: ranks without a common
  // group.
  struct LevelLinks {
    std::int32_t size = 0; // slots of a group
    double rate = 0, latency = 0;
    Resource first_leaving = -1, first_entering = -1; // of the groups of this level; -1: nothing limits them
  };
  void add_levels(const Job& job);
  void add_copies(double rank_bytes, bool scalar_reduction);
  bool has_copies() const { return first_copier_ >= 0; }
  bool is_copied(const Transfer& t) const { return t.bytes <= (t.many_peers ? eager_bytes_beyond_ : eager_bytes_); }
  double turns_on(std::int32_t node) const { return ranks_on_[node] / static_cast<double>(cores_); } // of a processor
  bool shares_processors(std::int32_t node) const { return has_copies() && turns_on(node) > 1; }
  Path path_of_copies(std::int32_t node, double bytes, bool summed, double latency) const;
  Resource copier(std::int32_t rank) const { return first_copier_ + rank; }
  Resource copying(std::int32_t rank) const { return first_copying_ + node_[rank]; }
  Resource summing(std::int32_t rank) const { return first_summing_ + node_[rank]; }
  const LevelLinks& between(std::int32_t from, std::int32_t to) const;
  void append_exchange(std::int32_t a, std::int32_t b, std::vector<Resource>& resources) const;

  std::int32_t group(std::int32_t rank, const LevelLinks& level) const { return slot_[rank] / level.size; }

  static constexpr double infinity_ = std::numeric_limits<double>::infinity();

  const Machine* machine_ = nullptr;
  std::vector<std::int32_t> node_;
  std::vector<std::int32_t> slot_;     // by rank, where a single node has levels
  std::vector<std::int32_t> ranks_on_; // by node
  std::vector<double> factor_;         // by node
  std::vector<double> capacity_;
  std::int32_t link_bound_ = 0, nodes_ = 0;
  Resource first_sender_ = 0, first_receiver_ = 0, first_memory_ = 0, first_reducer_ = 0, first_engine_ = 0;
  Resource first_copier_ = -1, first_copying_ = -1, first_summing_ = -1; // -1: no numbers of copies
  std::vector<LevelLinks> within_;                                       // outermost first
  std::vector<double> hop_latencies_;                                    // by class; none: all have hop_latency_
  double engine_ = 0, message_cost_ = 0, relay_latency_ = 0, hop_latency_ = 0, rendezvous_latency_ = 0;
  struct CopyRates {
    double copied = 0, streamed = 0;
  };
  std::vector<CopyRates> copying_; // by node; none: no numbers of copies
  double slot_bytes_ = 0, short_rate_ = 0, streamed_bytes_ = 0, streamed_latency_ = 0, copy_cost_ = 0, switch_ = 0;
  std::int64_t cores_ = 1;
  double reduction_cost_ = 0;
  double receive_cost_ = 0, copy_seconds_ = 0; // of a message; of a byte of an eager one
  double lane_rate_ = infinity_;
  bool leaves_node_ = false; // some rank is on another node than others
  bool puts_ = false;        // of programs with concurrent lanes
  double put_latency_ = 0, put_sum_latency_ = 0;
  double short_put_bytes_ = -1, short_put_latency_ = 0;
  double inline_bytes_ = infinity_, fetch_latency_ = 0;
  double eager_bytes_ = infinity_, eager_bytes_beyond_ = infinity_;
  double early_bytes_ = -1; // none
  double cached_bytes_ = infinity_, uncached_ = 1;
  double exchange_ = 0, exchange_bytes_ = 0; // 0: exchanges have no limit
  Resource first_pair_ = 0;
  Resource all_links_ = -1;  // none: they have no limit
  Resource processors_ = -1; // none: each rank has its own
  double burst_ = 0, processor_time_ = 0;
  mutable std::vector<std::vector<std::int32_t>> partners_; // of each node, those with higher numbers
  mutable std::vector<LinkId> route_;
};

} // namespace kumihimo::simulation
