// What software and shared memory of a machine take, and on which nodes ranks are.
#pragma once

#include "goal/machine_rates.hpp"
#include "hosts/outcome.hpp"
#include "machine/job.hpp"

#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

namespace kumihimo::hosts {

// Times that software takes, of the machine.
struct Software {
  Time send = 0, receive = 0;
  Time local_send = 0;                            // between ranks of a node
  std::uint64_t eager = goal::most_message_bytes; // bytes of the longest message without a rendezvous
  Time rendezvous = 0;                            // by which longer ones are later
  Time packet = 0;                                // of a full one on a link

  std::vector<double> slowness; // by node, 1 / factor; empty: no node is slow
  // What takes `time` on a usual node.
  Time on_node(std::int32_t node, Time time) const {
    if (slowness.empty()) return time;
    return static_cast<Time>(std::llround(static_cast<double>(time) * slowness[static_cast<std::size_t>(node)]));
  }

  Time after_arrival(std::uint64_t bytes) const { return receive + (bytes > eager ? rendezvous : 0); }
};

// `packet` stays 0.
Software software_of(const Machine& machine);

// What a rank's own work takes, on one processor; each of 256 lanes has an interface.
goal::WorkRates rates_of(const Job& job, bool scalar_reduction = false);

// Messages between ranks of a node.
class LocalCopies {
 public:
  LocalCopies() = default; // which take no time
  explicit LocalCopies(const Machine& machine);
  Time time(std::uint64_t bytes) const {
    return latency_ + static_cast<Time>(std::llround(static_cast<double>(bytes) * femtoseconds_ / 1000));
  }

 private:
  Time latency_ = 0;
  double femtoseconds_ = 0; // a byte
};

// Errors: a node that dies and does not exist; those of the noise of so many ranks.
Status check(const Options& options, const Machine& machine, std::int32_t ranks);

// By rank. `placement`: none for block order. Errors: more ranks than slots, or another number in the placement.
Result<std::vector<std::int32_t>> nodes_of(const Job& job, std::int32_t ranks,
                                           const std::optional<Placement>& placement);

} // namespace kumihimo::hosts
