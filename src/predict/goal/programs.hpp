// Program sets as graphs of operations: what each rank sends, receives, reduces, copies and computes, with the waits of
// its program (program/round_graph.hpp, program/segment_start.hpp).
//
//   send, receive                 a message of the bytes of its extent; none if the extent is empty
//   signal, wait_signal           a message of one byte, as simulators of LogP write messages without data
//   receive_reduce                a receive, and a calc behind it
//   reduce, copy, compute         a calc; none if it takes no time
//   offload                       not applicable, but for a model that knows the network's engine (in_bytes)
//
// A round starts when all operations that it waits for have ended. A round's gap is a pause after each packet of its
// messages, of the same share. Peers are distances, so that ranks with programs alike share one graph.
#pragma once

#include "goal/round_operations.hpp"

#include <functional>
#include <span>
#include <vector>

namespace kumihimo::goal {

// Appends programs of one set to the graphs of ranks, in which there may be more.
class ProgramOperations {
 public:
  ProgramOperations(const ProgramSet& set, const WorkRates& rates, Tags tags = {}) : of_{set, rates, tags, {}} {}

  // The program of a rank starts after the ends of `after`; it is complete after those of the answer. distance(peer):
  // of another rank of the set, in the graphs. Errors name the rank: a peer that is no rank; lanes that wait for each
  // other; more than 4096 lanes, or segments than tags; an offload; a compute step that needs a rate; too many
  // operations.
  Result<std::vector<std::uint32_t>> append(GraphBuilder& graph, Rank rank, std::span<const std::uint32_t> after,
                                            const std::function<std::int32_t(std::int32_t peer)>& distance);

 private:
  OfSet of_;
};

// Programs are built one after the other; only different graphs are kept. Errors: as above.
Result<Graphs> graphs_of(const ProgramSet& set, const WorkRates& rates = {});

} // namespace kumihimo::goal
