// A machine's network as flat arrays: vertices (nodes and switches), and links by their LinkId.
//
// Why no packets wait for each other in a circle: each packet's way takes channels in an order that all packets share.
// On a torus that is the axes' order; on a ring there are two channels, and a packet that crosses the link from the
// last place to the first is on channel 0 before and on channel 1 from that link on (W. Dally, C. Seitz, IEEE TC 36(5),
// 1987). Packets that do not cross it are on either. With adaptive routing these channels are the escape, which a
// packet may always take, and one more channel is free for all (J. Duato, IEEE TPDS 4(12), 1993). On other networks a
// packet changes to the next channel where its route leaves the order of the links.
#pragma once

#include "machine/machine.hpp"
#include "packet/options.hpp"
#include "topology/torus.hpp"

#include <array>

namespace kumihimo::packet {

// Of a kind of link.
struct Speed {
  std::uint64_t femtoseconds = 0; // a byte
  Time latency = 0;               // of a packet's first byte to the arbiter behind the link
  std::int32_t link_class = 0;
};

constexpr Time time_of(std::uint64_t bytes, std::uint64_t femtoseconds) {
  return std::max<Time>(1, (bytes * femtoseconds + 500) / 1000);
}

inline constexpr std::int64_t most_links_at_switch = 1000;
Error too_many_links_at_switch(std::int64_t links, std::int64_t most);

// As the options say; else 4, or more where credits need longer to come back: then a lone message has the whole link.
std::int64_t buffer_packets_of(const Machine& machine, const PacketOptions& options);

struct Fabric {
  TopologyPtr topology;             // the job's
  std::vector<std::int32_t> vertex; // by the job's node
  std::int32_t vertices = 0;
  std::uint32_t links = 0; // bound of their numbers

  std::vector<Speed> speeds;
  // By link; vertices -1 where it is none.
  std::vector<std::int32_t> from, to;
  std::vector<std::uint16_t> speed;

  std::int64_t buffer_packets = 0;
  std::int32_t channels = 1;            // of a link; with adaptive routing the last one is free
  std::int32_t engines = 1;             // of a vertex
  std::uint64_t usual_engine = 0;       // femtoseconds a byte
  std::vector<std::uint64_t> engine;    // the same by vertex
  std::vector<std::uint64_t> injection; // of all engines of a vertex together; 0: no more than the engines'
  // By vertex, `most_arriving` each: the links that end there; none: the rest. And by link its place among them.
  std::int32_t most_arriving = 0;
  std::vector<std::uint32_t> arriving;
  std::vector<std::uint16_t> place;

  // Where routes are axes' hops: the torus, the order of its axes, and who stands where.
  std::shared_ptr<const Torus> torus;
  std::vector<std::int32_t> axes;
  std::vector<std::int16_t> coordinates; // by vertex and axis
  // Elsewhere the order of the links, by link: where the next link of a route is no higher, the channel is the next.
  std::vector<std::uint64_t> order;

  // Errors: a machine without links, or whose routes are no links between places; numbers of options that are out of
  // range; adaptive routing on another network than a torus, mesh or Tofu, or one with dead parts; routes that need
  // more than 8 channels.
  static Result<Fabric> make(const Machine& machine, const PacketOptions& options);
};

} // namespace kumihimo::packet
