// Graphs of operations: what each rank sends, receives and computes, and what waits for what. This is what a GOAL file
// states (T. Hoefler, C. Siebert, A. Lumsdaine, Group Operation Assembly Language, ICPP 2009), and what the models
// loggp and packet simulate.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace kumihimo::goal {

// The numbers are those of the binary format. join: takes no time and no processor; it stands between two groups of
// operations of which each waits for all of the other. sum, copy, offload: of programs, for models that know the
// memories of a node and the network's engine (WorkRates::in_bytes).
enum class Kind : std::uint8_t { send = 1, receive = 2, calc = 3, join = 4, sum = 5, copy = 6, offload = 7 };

inline constexpr std::int32_t any_peer = -1;          // of a receive
inline constexpr std::uint32_t any_tag = 0xFFFFFFFFU; // of a send or a receive

using Time = std::uint64_t;                        // picoseconds
inline constexpr std::uint64_t picoseconds = 1000; // in a nanosecond
inline constexpr std::uint64_t most_nanoseconds = std::uint64_t{1} << 50, most_message_bytes = std::uint64_t{1} << 46;

struct GraphOperation {
  std::uint64_t size = 0;       // bytes; of calc: picoseconds
  std::int32_t peer = any_peer; // forward distance to it, (peer - rank) modulo the number of ranks
  std::uint32_t tag = 0;
  std::uint32_t waits_for = 0; // operations of its rank
  // Those that wait for it: dependents[first ..], `after_end` for its end and then `after_start` for its start.
  std::uint32_t first = 0, after_end = 0, after_start = 0;
  Kind kind = Kind::join;
  std::uint8_t cpu = 0, nic = 0;
  bool put : 1 = false;    // a message of a program with concurrent lanes (SoftwareNumbers::put_setup)
  bool summed : 1 = false; // a receive whose message is summed up where it arrives, in bytes as `sum` is
  // Of a send: its pause after each packet (pacing), in thousandths of the packet's time on a link. Models without
  // packets ignore it.
  std::uint32_t gap = 0;
  bool operator==(const GraphOperation&) const = default;
};

// The operations of one rank, or of several that do the same with peers at the same distances.
struct Graph {
  std::vector<GraphOperation> operations;
  std::vector<std::uint32_t> dependents;
  std::vector<std::string> labels; // of the operations; empty: none has one
  bool operator==(const Graph&) const = default;
  std::string label(std::uint32_t operation) const { return labels.empty() ? "" : labels[operation]; }
};

class GraphBuilder {
 public:
  // Room for as much as another has, such as that of the rank before.
  void reserve_as(const GraphBuilder& other) {
    graph_.operations.reserve(other.operations_), edges_.reserve(other.edges_.size());
  }
  std::uint32_t add(const GraphOperation& operation, std::string_view label = {});
  // `operation` starts after the end (or the start) of `on`.
  void after_end(std::uint32_t operation, std::uint32_t on) { edges_.push_back({on, operation, false}); }
  void after_start(std::uint32_t operation, std::uint32_t on) { edges_.push_back({on, operation, true}); }
  std::size_t size() const { return graph_.operations.size(); }
  // Dependents of an operation are in the order in which they were named.
  Graph finish() { return std::move(linked()); }
  // The same, where many small graphs are built: the memory is kept for the next one.
  void finish(Graph& graph);

 private:
  struct Edge {
    std::uint32_t on = 0, operation = 0;
    bool start = false;
  };
  Graph& linked();
  Graph graph_;
  std::vector<Edge> edges_;
  std::size_t operations_ = 0; // of the finished graph
};

// An operation that can never start since it waits for itself, over others or at once; none: ok.
std::optional<std::uint32_t> in_cycle(const Graph& graph);

// The graphs of all ranks. Ranks with equal graphs share one.
class Graphs {
 public:
  explicit Graphs(std::int32_t ranks) : of_rank_(static_cast<std::size_t>(ranks), 0) { add(Graph{}); }

  // Without it a rank does nothing.
  void set(std::int32_t rank, Graph graph) { of_rank_[static_cast<std::size_t>(rank)] = add(std::move(graph)); }

  std::int32_t ranks() const { return static_cast<std::int32_t>(of_rank_.size()); }
  const Graph& of(std::int32_t rank) const { return graphs_[of_rank_[static_cast<std::size_t>(rank)]]; }
  std::size_t different() const { return graphs_.size() - 1; } // but the empty one
  const std::vector<Graph>& all() const { return graphs_; }
  std::int32_t graph_of(std::int32_t rank) const {
    return static_cast<std::int32_t>(of_rank_[static_cast<std::size_t>(rank)]);
  }
  // The rank at a distance from another; any_peer stays.
  std::int32_t peer(std::int32_t rank, std::int32_t distance) const {
    if (distance == any_peer) return any_peer;
    const std::int32_t left = ranks() - rank;
    return distance < left ? rank + distance : distance - left;
  }
  std::int32_t distance(std::int32_t rank, std::int32_t peer) const {
    return peer == any_peer ? any_peer : peer >= rank ? peer - rank : ranks() - rank + peer;
  }
  std::int32_t cpus() const { return cpus_; } // of a rank: 1 to 256
  std::int32_t nics() const { return nics_; }
  bool has_wildcards() const { return wildcards_; } // a receive from any rank, or any tag

  // "rank 3: send 'l2' (8 bytes to rank 1, tag 7)"; without a label its number, from 0.
  std::string name_of(std::int32_t rank, std::uint32_t operation) const;

 private:
  std::uint32_t add(Graph graph);
  std::vector<Graph> graphs_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> by_hash_;
  std::vector<std::uint32_t> of_rank_;
  std::int32_t cpus_ = 1, nics_ = 1;
  bool wildcards_ = false;
};

// The same of any operation, with the rank that its distance leads to; `name`: "operation 7".
std::string name_of(std::int32_t rank, const GraphOperation& operation, const std::string& name, std::int32_t peer);

} // namespace kumihimo::goal
