// What the packet model is asked, and what it tells.
#pragma once

#include "hosts/outcome.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::packet {

using goal::Time;

enum class Routing : std::uint8_t { dimension_order, adaptive };
using hosts::NodeDeath;

// What hosts::HostsOptions has is of the job watched.
struct PacketOptions : hosts::HostsOptions {
  Routing routing = Routing::dimension_order;
  // Payload of a packet. With its header at most 65,535 bytes. A machine's link_bandwidth is that of payload, so that
  // headers are in it already; give their bytes only with a machine whose link_bandwidth is that of the wire.
  std::int64_t packet_bytes = 2048, header_bytes = 0;
  // Of each virtual channel at the far end of each link, 1 to 255; 0: see buffer_packets_of.
  std::int64_t buffer_packets = 0;
  std::uint64_t seed = 1;       // of the first turns of the arbiters
  std::int32_t bins = 128;      // at most, of the utilisation over time
  bool links_over_time = false; // utilisation of each link, not of classes alone
};

// A message of raw traffic, from one node to another.
struct RawMessage {
  std::int32_t from = 0, to = 0;
  std::uint64_t bytes = 0;
  Time start = 0; // when an engine may take it
  Time gap = 0;   // pacing: how long its engine pauses after each of its full packets; a short one as much less
  bool background = false; // of another job than the one watched
};

// Of the messages of background jobs, which the numbers of all traffic include.
struct BackgroundTraffic {
  std::uint64_t messages = 0, packets = 0, packets_waited = 0, bytes = 0;
};

// Links that the topology gives one class.
struct LinkClassUse {
  std::string name;
  std::int64_t links = 0;
  std::vector<double> utilisation; // by bin: busy time over all
};

struct DeliveredTraffic {
  Time last = 0; // when the last packet was delivered
  std::uint64_t messages = 0, packets = 0, packet_hops = 0, bytes = 0;
  // E2: a packet waits if it is ready at a link's arbiter and finds the link taken by another message.
  std::uint64_t packets_waited = 0;         // at any link
  std::int64_t links = 0, links_waited = 0; // on which any packet waited
  std::vector<std::uint64_t> link_bytes;    // payload, by LinkId
  Time bin = 0;                             // width
  std::vector<LinkClassUse> classes;
  std::vector<float> link_utilisation; // by LinkId and bin, where Options asks for links over time
  std::uint64_t events = 0;
  BackgroundTraffic background;

  double links_waiting_share() const;
  double packets_waiting_share() const;
  double own_packets_waiting_share() const; // of the job watched
};

std::string_view name_of(Routing routing);

} // namespace kumihimo::packet
