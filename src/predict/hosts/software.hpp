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

// Times that software takes, of the machine: of messages between nodes, whose puts are those of programs with
// concurrent lanes on machines that have them.
struct Software {
  Time send = 0;                                  // of the sending interface
  Time relay = 0;                                 // from an arrival on
  Time receive = 0;                               // of the receiving interface
  std::uint64_t eager = goal::most_message_bytes; // bytes of the longest message without a rendezvous
  bool has_eager = false;                         // of a machine with such messages
  Time rendezvous = 0;                            // of the receiving interface, of longer ones
  double copy = 0;                                // of both interfaces, a byte of an eager message
  bool puts = false;
  Time put_latency = 0;        // from the arrival of a put until its receiver sees it
  std::uint64_t short_put = 0; // bytes of the longest put that arrives later, by
  Time short_put_latency = 0;
  Time packet = 0; // of a full one on a link

  std::vector<double> slowness; // by node, 1 / factor; empty: no node is slow
  // What takes `time` on a usual node.
  Time on_node(std::int32_t node, Time time) const {
    if (slowness.empty()) return time;
    return static_cast<Time>(std::llround(static_cast<double>(time) * slowness[static_cast<std::size_t>(node)]));
  }

  bool is_put(const goal::GraphOperation& send) const { return send.put && puts; }
  // Between nodes: of a program, it leaves before its receive is posted.
  bool is_eager(const goal::GraphOperation& send) const { return has_eager && !is_put(send) && send.size <= eager; }
  // During which the sending interface is busy.
  Time sending(const goal::GraphOperation& of) const { return send + copying(of); }
  // From the arrival until the receiving interface can take it, and during which that is busy then.
  Time arriving(const goal::GraphOperation& of) const {
    if (!is_put(of)) return relay;
    return relay + put_latency + (of.size <= short_put ? short_put_latency : 0);
  }
  Time taking(const goal::GraphOperation& of) const {
    if (is_put(of)) return 0;
    return receive + (of.size > eager ? rendezvous : copying(of));
  }

 private:
  Time copying(const goal::GraphOperation& of) const {
    if (copy == 0 || is_put(of) || of.size > eager) return 0;
    return static_cast<Time>(std::llround(static_cast<double>(of.size) * copy));
  }
};

// `packet` stays 0.
Software software_of(const Machine& machine);
// The bytes of the longest message that leaves before its receive is posted, of programs whose others wait.
std::uint64_t unexpected_bytes_of(const Machine& machine);

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
Status check(const HostsOptions& options, const Machine& machine, std::int32_t ranks);

// By rank. `placement`: none for block order. Errors: more ranks than slots, or another number in the placement.
Result<std::vector<std::int32_t>> nodes_of(const Job& job, std::int32_t ranks,
                                           const std::optional<Placement>& placement);

} // namespace kumihimo::hosts
