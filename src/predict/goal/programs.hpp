// Program sets as graphs of operations: what each rank sends, receives, reduces, copies and computes, with the waits of
// its program (program/round_graph.hpp, program/segment_start.hpp).
//
//   send, receive                 a message of the bytes of its extent; none if the extent is empty
//   signal, wait_signal           a message of one byte, as simulators of LogP write messages without data
//   receive_reduce                a receive, and a calc behind it
//   reduce, copy, compute         a calc; none if it takes no time
//   offload                       not applicable: these graphs know no engine of the network
//
// A round starts when all operations that it waits for have ended. A round's gap is a pause after each packet of its
// messages, of the same share. Peers are distances, so that ranks with programs alike share one graph.
#pragma once

#include "goal/graph.hpp"
#include "program/computing.hpp"
#include "program/program_set.hpp"

#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

namespace kumihimo::goal {

// What a rank's own work takes.
struct WorkRates {
  double reduced = 0, copied = 0; // result bytes a second; 0: takes no time
  ComputeRates compute;           // of compute steps
  // Of a rank. Processor 0 reduces, copies and computes; messages of the n-th lane have one of the others, if there are
  // more, and an interface: n modulo their number.
  std::int32_t cpus = 1, nics = 1;
  std::int64_t most = std::int64_t{1} << 27; // operations of all different graphs
};

// Tags are first ... first + count - 1. Every lane has a 4096th of them, for each segment and message between a pair,
// modulo what there is. Messages with equal tags match in their order.
struct Tags {
  std::uint32_t first = 0, count = any_tag;
};

// Appends programs of one set to the graphs of ranks, in which there may be more.
class ProgramOperations {
 public:
  ProgramOperations(const ProgramSet& set, const WorkRates& rates, Tags tags = {})
      : set_(set), rates_(rates), tags_(tags) {}

  // The program of a rank starts after the ends of `after`; it is complete after those of the answer. distance(peer):
  // of another rank of the set, in the graphs. Errors name the rank: a peer that is no rank; lanes that wait for each
  // other; more than 4096 lanes, or segments than tags; an offload; a compute step that needs a rate; too many
  // operations.
  Result<std::vector<std::uint32_t>> append(GraphBuilder& graph, Rank rank, std::span<const std::uint32_t> after,
                                            const std::function<std::int32_t(std::int32_t peer)>& distance);

 private:
  friend class RankOperations;
  std::uint32_t index_of(LaneId lane); // dense, in the order met
  const ProgramSet& set_;
  WorkRates rates_;
  Tags tags_;
  std::unordered_map<std::int32_t, std::uint32_t> lanes_;
};

// Programs are built one after the other; only different graphs are kept. Errors: as above.
Result<Graphs> graphs_of(const ProgramSet& set, const WorkRates& rates = {});

} // namespace kumihimo::goal
