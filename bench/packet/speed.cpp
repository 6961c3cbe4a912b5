// How many packet-hops a second the packet model simulates on one core: uniform random traffic on the torus 48x6x32
// with the numbers of the K computer, with both ways of routing, at several loads.
//
//   packet_bench [SHAPE [MESSAGES [BYTES]]]
#include "machine/load.hpp"
#include "packet/simulate.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <ctime>

namespace kumihimo {
namespace {

// `load`: of each node's injection, as a share of what the bisection lets through; 0: all messages at the start.
void measure(const Machine& machine, packet::Routing routing, std::int32_t each, std::uint64_t bytes, double load) {
  packet::PacketOptions options;
  options.routing = routing;
  const std::int32_t nodes = machine.topology->nodes();
  auto messages = packet::uniform_random(nodes, each, bytes, 1);
  if (load > 0) {
    const double links = static_cast<double>(machine.topology->bisection_links());
    const double rate = load * 4 * links * machine.network.link_bandwidth.value.value / nodes; // half of it crosses
    const double every = static_cast<double>(bytes) / rate * 1e12;
    for (std::size_t i = 0; i < messages.size(); ++i)
      messages[i].start = static_cast<packet::Time>(every * static_cast<double>(i) / nodes);
  }
  const std::clock_t start = std::clock();
  const auto outcome = packet::run(machine, messages, options);
  const double took = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  const packet::DeliveredTraffic& traffic = outcome->traffic;
  const auto hops = static_cast<double>(traffic.packet_hops);
  fmt::print(
      "{:15} load {:4.2f}: {:5.2f} s, {:.1f} million packet-hops, {:.2f} million/s, {:.2f} events a hop; simulated "
      "{:.3f} ms, links waited on {:.3f}, packets that waited {:.3f}\n",
      packet::name_of(routing), load, took, hops / 1e6, hops / took / 1e6, static_cast<double>(traffic.events) / hops,
      static_cast<double>(traffic.last) / 1e9, traffic.links_waiting_share(), traffic.packets_waiting_share());
}

} // namespace
} // namespace kumihimo

int main(int argc, char** argv) {
  using namespace kumihimo;
  const std::filesystem::path folder = KUMIHIMO_MACHINES;
  const auto shape = Shape::parse(argc > 1 ? argv[1] : "48x6x32");
  if (!shape) return 1;
  const Machine machine = load_machine("k-computer", std::span(&folder, 1))->as_torus(*shape);
  const std::int32_t each = argc > 2 ? std::atoi(argv[2]) : 8;
  const std::uint64_t bytes = argc > 3 ? std::strtoull(argv[3], nullptr, 10) : 32768;
  for (const double load : {0.5, 0.9, 0.0})
    for (const auto routing : {packet::Routing::dimension_order, packet::Routing::adaptive})
      measure(machine, routing, each, bytes, load);
}
