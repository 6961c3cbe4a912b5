// What a network holds: packets in the slots of channels, links, engines, nodes, messages.
#pragma once

#include "base/link_pool.hpp"
#include "packet/options.hpp"
#include "packet/queue_mask.hpp"
#include "packet/routes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace kumihimo::packet {

inline constexpr std::uint32_t nothing = no_link;
inline constexpr std::uint8_t has_waited = 0x40, is_short = 0x80, axes_bits = 0x3F; // of Slot::bits

template <class Routes, std::size_t words> // `words` of 64 queues at a vertex
struct NetworkState {
  using Mask = QueueMask<words>; // of a vertex' queues: by arriving link and channel, then by engine
  using Local = std::conditional_t<words == 1, std::uint8_t, std::uint16_t>; // number of a queue at its vertex
  static constexpr std::uint32_t channels = Routes::channels;
  // 16 bytes, so that four slots of a channel are a line of the cache. The time is in units of picoseconds modulo 2^40.
  struct alignas(16) Slot { // a packet
    std::uint32_t low = 0;
    std::uint8_t high = 0; // time when its head is here; of a free slot: from when the link may fill it
    std::uint8_t bits = 0; // E2: it has waited; it is the short end of its message; channels of its axes
    typename Routes::State route;
    std::uint32_t message = 0;
  };
  struct Channel { // the queue behind a link; its first slots and the others in turn
    std::uint8_t head = 0, count = 0;
    bool asking : 1 = false, leaving : 1 = false; // its first packet
    bool lacks_room : 1 = false;                  // its link waits for a slot
    bool last_is_full : 1 = false;                // packet
  };
  // What decides on a link, and the queues at its end: a packet's hop touches this, a slot, and no more of the link.
  struct alignas(64) Link {
    std::array<Mask, channels> asking{}; // queues at its start whose first packet asks for it; with adaptive routing
                                         // the last are all of them, and those before ask for the escape
    Mask waited{};                       // those that E2 has counted
    std::uint32_t message = 0;           // that it carries, or carried last
    std::int32_t from = 0, to = 0;
    std::uint32_t full_packets = 0;  // that it has carried
    Local turn = 0, first_local = 0; // of the next to be served; of its channel 0 at its end
    std::uint16_t speed = 0;
    bool busy : 1 = false, chooses : 1 = false; // it is in the list of those that choose now
    bool ever_waited : 1 = false;
    bool minus : 1 = false, is_last : 1 = false; // Turn
    std::uint8_t axis = 0;
    std::array<Channel, channels> channel{};

    Turn ring_turn() const { return {axis, minus, is_last}; }
  };
  struct alignas(64) Engine {
    Slot packet;
    std::uint32_t message = nothing;
    std::int32_t vertex = 0;
    Time free = 0;
    Local local = 0;
    bool busy = false, asking = false;
  };
  struct alignas(64) Node {
    Mask asking{};                                 // for delivery
    std::uint64_t engine_rate = 0;                 // femtoseconds a byte
    std::uint64_t injection_rate = 0;              // of all engines together; 0: no more than the engines'
    Time injection = 0, delivery = 0;              // from when all engines together may start the next packet
    Time wakes = 0;                                // for a delivery
    std::uint32_t first = nothing, last = nothing; // messages that no engine has taken
    Local turn = 0;
    std::uint8_t busy = 0; // engines that receive
    bool chooses = false;
  };
  struct Flow {                         // a message
    std::uint64_t number = 0, left = 0; // bytes that are not in packets yet
    std::uint64_t undelivered = 0;      // packets
    Time gap = 0;
    std::uint32_t next = nothing;
    std::uint16_t short_bytes = 0; // of its last packet, with the header
    std::uint8_t bits = 0;
    bool background = false;
    typename Routes::State route;
  };
  struct Pace { // of a speed: times of a full packet, and the lanes of events
    Time full = 0, latency = 0, delivery = 0;
    std::uint8_t done = 0, ready = 0, delivered = 0, choose = 0;
    std::uint32_t link_class = 0;
  };
};

} // namespace kumihimo::packet
