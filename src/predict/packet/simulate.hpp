// The packet model: how long messages, or graphs of operations, take on a machine's network (network.hpp).
#pragma once

#include "machine/machine.hpp"
#include "packet/options.hpp"

#include <functional>
#include <span>

namespace kumihimo::packet {

// When each message has arrived; between ranks of one node by the machine's shared memory.
struct RawOutcome {
  std::vector<Time> delivered;
  DeliveredTraffic traffic;
};

// No software takes part. Errors: those of Fabric::make; a node that does not exist.
Result<RawOutcome> run(const Machine& machine, std::span<const RawMessage> messages, const PacketOptions& options = {});

// Messages of `bytes` from every node to nodes that are drawn at random, `each` one behind the other from time 0.
std::vector<RawMessage> uniform_random(std::int32_t nodes, std::int32_t each, std::uint64_t bytes, std::uint64_t seed);

} // namespace kumihimo::packet
