// The times of a replayed program: of the calls at each call site, of computing in each region, and of each rank.
#pragma once

#include "fluid/graphs.hpp"
#include "loggp/engine.hpp"
#include "packet/programs.hpp"
#include "replay/graphs.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace kumihimo::replay {

using goal::Time; // picoseconds

// Of all ranks together.
struct PlaceTimes {
  std::int64_t count = 0; // calls, or stretches of computing
  Time time = 0;
  Time longest_of_rank = 0; // the time of the rank that spent most
  std::int32_t longest_rank = 0;
  std::int32_t ranks = 0; // that were there
};

// What a rank did from start to end: computing in a region, or a call at a site.
struct PlaceInterval {
  std::int32_t rank = 0;
  std::uint32_t place = 0;
  bool is_call = false;
  Time start = 0, end = 0;
};

struct Times {
  Time total = 0; // of the rank that ends last
  std::int32_t last_rank = 0;
  std::vector<Time> end, computing; // by rank; without what noise takes
  Time lost_to_noise = 0;           // in all ranks
  std::uint64_t operations = 0, messages = 0, bytes = 0;
  std::vector<PlaceTimes> sites, regions;
  std::vector<PlaceInterval> intervals;
  std::optional<packet::GraphOutcome> packets; // in the model packet
  std::vector<fluid::ClassUse> link_classes;   // with fluids for messages
};

struct TimesOptions {
  loggp::EngineOptions engine;     // of the model loggp; its observers see the run, too
  std::int64_t most_intervals = 0; // if there are more, the list is empty
  std::int32_t every = 1;          // of the ranks 0, every, 2 every ...
  Time least_interval = 0;         // what is shorter belongs to the interval before
};

// Without latency, overheads and gaps: what is left is the waiting of ranks for each other.
loggp::LogGopsParameters ideal_network();

Result<Times> times_of(const ReplayProgram& program, const loggp::LogGopsParameters& parameters,
                       const TimesOptions& options = {});

// Factors on a machine's numbers.
struct NetworkFactors {
  double latency = 1;   // of a hop
  double cost = 1;      // of a message at both ends: message_cost, relay_latency, receive_cost, rendezvous_latency
  double bandwidth = 1; // of links, engines, injection, exchanges, lanes and copies of eager messages
                        // On a single node: of its memory, whose latency and send_cost take the place of theirs.
};
Machine scaled(Machine machine, const NetworkFactors& factors);

// Packet by packet. Errors: those of packet::run.
struct PacketNetwork {
  Job job;
  std::optional<Placement> placement; // none: block order
  packet::PacketOptions options;
};
Result<Times> times_of(const ReplayProgram& program, const PacketNetwork& network, const TimesOptions& options = {});
// With fluids for messages. Errors: those of fluid::run.
struct FluidNetwork {
  Job job;
  std::optional<Placement> placement; // none: block order
  std::optional<goal::NoiseModel> noise = {};
  fluid::Tolerance tolerance = {};
};
Result<Times> times_of(const ReplayProgram& program, const FluidNetwork& network, const TimesOptions& options = {});
// On an ideal network in the models flow and packet: messages and their software take no time, and need no processor.
// Nodes may be slow, or have noise.
Result<Times> ideal_network_times(const ReplayProgram& program, const FluidNetwork& network,
                                  const TimesOptions& options = {});

} // namespace kumihimo::replay
