// The time of graphs of operations in the model LogGOPS: one event for each start of an operation and for each arrival
// of a message.
//
//   send     occupies its processor for o + (s-1) O and its interface for g + (s-1) G. The message arrives o + L after
//            the start. A message of more than S bytes ends its send when a receive takes it, others at once.
//   arrival  waits for the receiver's processor (the one with the number of the send's) and interface; occupies them
//            for o + (s-1) max(O, G) and g + (s-1) G. A receive ends when its message has arrived, or at its start if
//            the message is there already.
//   calc     occupies its processor.
//
// With Parameters::processors, ranks share them: what occupies a processor of a rank occupies the shared one. Where it
// turns to another rank, all of the above begins after the switch: also what the interface does, and the message.
//
// s - 1 of a message without bytes is -1, as in LogGOPSim, whose times these are to the picosecond where a rank has one
// processor, and no receive could take the message of another (T. Hoefler, T. Schneider, A. Lumsdaine, HPDC 2010).
// Of several processors an operation starts no earlier than what it waits for ends; LogGOPSim looks at its own
// processor alone.
//
// A rank that dies at time T starts and ends nothing from T on. A message has left once its last byte has, at
// o + (s-1) max(O, G) after the start of its send. What left before T arrives. Of a message that is just leaving only
// the first bytes do: its receive is taken, and never ends. A message of more than S bytes stays with its sender until
// a receive takes it: taken from T on, the receive never ends, either. What arrives at the rank from T on is lost; its
// sender does not learn of it, but that a send of more than S bytes never ends.
#pragma once

#include "goal/deaths.hpp"
#include "goal/graph.hpp"
#include "goal/noise.hpp"
#include "goal/observer.hpp"
#include "goal/operation_windows.hpp"
#include "loggp/parameters.hpp"

#include <functional>
#include <optional>
#include <vector>

namespace kumihimo::loggp {

using goal::NoiseModel;
using goal::Observer;
using goal::ProcessorWork;

struct LogGopsOutcome {
  std::vector<Time> end; // of each rank: when its processors are free for good
  Time last = 0;
  std::int32_t last_rank = 0;
  std::uint64_t operations = 0; // sends, receives and calcs that were completed
  std::uint64_t messages = 0, bytes = 0;
  Time lost_to_noise = 0;         // of all ranks
  std::optional<goal::Ends> ends; // where ranks die: of each operation
};

struct EngineOptions {
  std::optional<NoiseModel> noise;
  std::vector<Observer*> observers;
  std::function<bool(std::uint64_t operations)> go_on; // asked now and then; false ends it with an error
  bool lists = false;                                  // the golden copy: matches by lists, waits without them
  // Operations that may start at once do so in the order in which they were added: sends, receives, calcs. GOAL states
  // no order, and LogGOPSim sorts more than 16 of them with a sort that is not stable: as it does, but for receives.
  bool loggopsim_order = false;
  goal::Deaths deaths; // by rank; empty: none
};

// Errors, which name the rank and the operation: a send that nothing receives, a receive to which nothing is sent, and
// what waits for it. Where ranks die, this is no error; goal/aftermath.hpp says what came of it. Noise on ranks that
// there are not.
Result<LogGopsOutcome> run(const goal::Graphs& graphs, const LogGopsParameters& parameters,
                           const EngineOptions& options = {});
// The same of operations that are made as the model comes to them, without deaths. Errors: also those of their makers.
Result<LogGopsOutcome> run(goal::OperationWindows& operations, const LogGopsParameters& parameters,
                           const EngineOptions& options = {});

} // namespace kumihimo::loggp
