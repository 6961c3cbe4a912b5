// The network's kind for a fabric, and what takes no network.
#pragma once

#include "packet/arbiters.hpp"
#include "packet/prefetch.hpp"

namespace kumihimo::packet {

// fn(network) of the kind that fits. Errors: a vertex with too many links.
template <class Fn>
auto with_network(const Fabric& fabric, const PacketOptions& options, Fn&& fn)
    -> decltype(fn(std::declval<PacketSwitches<TableRoutes<1>, 1>&>())) {
  const auto on = [&](auto network) { return fn(network); };
  const auto queues = [&](std::size_t channels) { // at a vertex
    return static_cast<std::size_t>(fabric.most_arriving) * channels + static_cast<std::size_t>(fabric.engines);
  };
  if (fabric.torus && queues(3) <= 64) {
    if (options.routing == Routing::adaptive) return on(PacketSwitches<TorusRoutes<true>, 1>(fabric, options));
    return on(PacketSwitches<TorusRoutes<false>, 1>(fabric, options));
  }
  constexpr std::size_t limit = 1024;
  if (fabric.channels == 1 && queues(1) <= 64) return on(PacketSwitches<TableRoutes<1>, 1>(fabric, options));
  if (fabric.channels == 1 && queues(1) <= limit)
    return on(PacketSwitches<TableRoutes<1>, limit / 64>(fabric, options));
  if (queues(8) <= 128) return on(PacketSwitches<TableRoutes<8>, 2>(fabric, options));
  if (queues(8) <= limit) return on(PacketSwitches<TableRoutes<8>, limit / 64>(fabric, options));
  return too_many_links_at_switch(fabric.most_arriving, fabric.channels == 1 ? most_links_at_switch : 125);
}

} // namespace kumihimo::packet
