#include "hosts/software.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo::hosts {

Software software_of(const Machine& machine) {
  const auto picoseconds = [](Seconds s) { return static_cast<Time>(std::llround(s.value * 1e12)); };
  Software software;
  software.send = picoseconds(machine.software.message_cost.value);
  software.relay = picoseconds(machine.software.relay_latency.value);
  if (machine.software.receive_cost) software.receive = picoseconds(machine.software.receive_cost->value);
  software.has_eager = machine.software.eager_bytes.has_value();
  if (machine.software.eager_bytes)
    software.eager = static_cast<std::uint64_t>(machine.software.eager_bytes->value.value);
  if (machine.software.rendezvous_latency)
    software.rendezvous = picoseconds(machine.software.rendezvous_latency->value);
  if (const auto& rate = machine.software.eager_copy_rate) software.copy = 1e12 / rate->value.value;
  software.puts = machine.software.put_setup.has_value();
  software.put_latency =
      machine.software.put_latency ? picoseconds(machine.software.put_latency->value) : software.receive;
  if (const auto& bytes = machine.software.short_put_bytes) {
    software.short_put = static_cast<std::uint64_t>(bytes->value.value);
    software.short_put_latency = picoseconds(machine.software.short_put_latency->value);
  }
  if (!machine.slow_nodes.empty()) software.slowness.assign(static_cast<std::size_t>(machine.topology->nodes()), 1.0);
  for (const SlowNode& slow : machine.slow_nodes)
    software.slowness[static_cast<std::size_t>(slow.node.value)] = 1 / slow.factor;
  return software;
}

std::uint64_t unexpected_bytes_of(const Machine& machine) {
  const auto& bytes = machine.software.unexpected_bytes;
  if (!bytes) return 0;
  return std::min(static_cast<std::uint64_t>(bytes->value.value), software_of(machine).eager);
}

goal::WorkRates rates_of(const Job& job, bool scalar_reduction) {
  goal::WorkRates rates = goal::rates_of(job, scalar_reduction);
  rates.cpus = 1, rates.nics = 256;
  return rates;
}

LocalCopies::LocalCopies(const Machine& machine)
    : latency_(static_cast<Time>(std::llround(machine.node.shared_memory_latency.value.value * 1e12))),
      femtoseconds_(1e15 / machine.node.shared_memory_bandwidth.value.value) {}

Status check(const HostsOptions& options, const Machine& machine, std::int32_t ranks) {
  const std::int32_t nodes = machine.topology->nodes();
  for (const NodeDeath& death : options.deaths)
    if (death.node < 0 || death.node >= nodes)
      return wrong_value(fmt::format("a node that dies must be one of 0 to {}", nodes - 1), death.node);
  return options.noise ? check(*options.noise, ranks) : Nothing{};
}

Result<std::vector<std::int32_t>> nodes_of(const Job& job, std::int32_t ranks,
                                           const std::optional<Placement>& placement) {
  if (job.machine.whole_machine_error)
    return wrong_value(job.machine.whole_machine_error->problem, {}, "give a part of the machine by --shape or --box");
  if (ranks > job.slots.size() || (placement && placement->ranks() != ranks))
    return wrong_value(fmt::format("the job must have a slot for each of {} ranks", ranks),
                       placement ? placement->ranks() : job.slots.size(),
                       "give a larger --shape or more --ranks-per-node");
  const Placement seats = placement ? *placement : Placement::block(job.slots, ranks);
  std::vector<std::int32_t> nodes;
  for (const NodeId node : seats.node_of_rank()) nodes.push_back(node.value);
  return nodes;
}

} // namespace kumihimo::hosts
