#include "loggp/of_machine.hpp"

#include <algorithm>
#include <cmath>

namespace kumihimo::loggp {
namespace {

Time picoseconds(double seconds) { return static_cast<Time>(std::llround(seconds * 1e12)); }
std::uint64_t femtoseconds_a_byte(double rate) { return static_cast<std::uint64_t>(std::llround(1e15 / rate)); }

struct Routes {                 // between two nodes of a machine
  double hops = 0, latency = 0; // on average
  double rate = 0;              // of the slowest link of each: so that bytes take their mean time
};

Routes routes_of(const Machine& machine) {
  const Topology& topology = *machine.topology;
  const std::int64_t nodes = topology.nodes();
  const std::int64_t froms = std::min<std::int64_t>(nodes, 64), tos = std::min<std::int64_t>(nodes, 256);
  Routes found{0, 0, machine.network.link_bandwidth.value.value};
  double pairs = 0, byte = 0; // seconds
  std::vector<LinkId> route;
  for (std::int64_t f = 0; f < froms; ++f)
    for (std::int64_t t = 0; t < tos; ++t) {
      const std::int64_t from = f * nodes / froms, to = t * nodes / tos;
      if (from == to) continue;
      route.clear();
      topology.append_route(NodeId{static_cast<std::int32_t>(from)}, NodeId{static_cast<std::int32_t>(to)}, route);
      double slowest = 0;
      for (const LinkId link : route) {
        const std::int32_t of_class = topology.link_class(link);
        found.latency += machine.hop_latency(of_class).value;
        slowest = std::max(slowest, 1 / machine.link_bandwidth(of_class).value);
      }
      found.hops += static_cast<double>(route.size());
      byte += slowest;
      ++pairs;
    }
  if (pairs > 0) found.hops /= pairs, found.latency /= pairs, found.rate = pairs / byte;
  return found;
}

// What an MPI library's messages were measured to take, in place of what was derived.
void replace_by_measured(LogGopsParameters& p, const LogGopsNumbers& measured) {
  const auto time = [](Time& into, const auto& number) {
    if (number) into = picoseconds(number->value.value);
  };
  time(p.L, measured.L);
  time(p.o, measured.o);
  time(p.g, measured.g);
  if (measured.G) p.G = femtoseconds_a_byte(1 / measured.G->value.value);
  p.O = measured.O ? femtoseconds_a_byte(1 / measured.O->value.value) : 0;
  time(p.R, measured.R);
  if (measured.S) p.S = static_cast<std::uint64_t>(measured.S->value.value);
}

} // namespace

MachineParameters parameters_of(const Job& job, bool scalar_reduction) {
  const Machine& machine = job.machine;
  const NodeNumbers& node = machine.node;
  const double ranks = std::max<double>(1, static_cast<double>(job.slots.size()) / job.slots.nodes());
  MachineParameters made;
  made.rates = goal::rates_of(job, scalar_reduction);
  LogGopsParameters& p = made.parameters;
  p.S = machine.software.eager_bytes ? static_cast<std::uint64_t>(machine.software.eager_bytes->value.value)
                                     : goal::most_message_bytes;
  if (machine.family == Family::single_node) {
    p.L = picoseconds(node.shared_memory_latency.value.value);
    p.G = p.O = femtoseconds_a_byte(node.shared_memory_bandwidth.value.value);
  } else {
    const NetworkNumbers& net = machine.network;
    const double cost = machine.software.message_cost.value.value;
    const Routes routes = routes_of(machine);
    made.hops = routes.hops;
    const auto& received = machine.software.receive_cost;
    p.o = picoseconds((cost + machine.software.relay_latency.value.value + (received ? received->value.value : 0)) / 2);
    p.L = picoseconds(routes.latency);
    p.g = picoseconds(cost);
    p.G = femtoseconds_a_byte(
        std::min({routes.rate, net.engine_bandwidth.value.value, net.injection_bandwidth.value.value / ranks}));
    if (const auto& rendezvous = machine.software.rendezvous_latency) p.R = picoseconds(rendezvous->value.value);
    made.rates.nics = static_cast<std::int32_t>(std::clamp(static_cast<double>(net.engines.value) / ranks, 1.0, 255.0));
  }
  if (machine.loggops) replace_by_measured(p, *machine.loggops);
  if (machine.loggops && machine.loggops->reduction_rate)
    made.rates.reduced = machine.loggops->reduction_rate->value.value;
  if (machine.family == Family::single_node && node.copies && ranks > static_cast<double>(node.cores.value)) {
    p.processors = static_cast<std::int32_t>(node.cores.value);
    p.processor_switch = picoseconds(node.copies->processor_switch.value.value);
  }
  made.rates.cpus = std::min(256, 1 + made.rates.nics);
  return made;
}

} // namespace kumihimo::loggp
