// Where packets go next. A packet carries what is left of its way in 6 bytes (State), and six bits (`channels`).
#pragma once

#include "base/hash.hpp"
#include "packet/fabric.hpp"

#include <bit>
#include <cstdlib>
#include <cstring>
#include <span>

namespace kumihimo::packet {

struct RouteHop {
  std::uint32_t output = 0;
  std::uint8_t channel = 0; // unless the link is its ring's last; with adaptive routing that of the escape
};

// What a link is to its ring.
struct Turn {
  std::uint8_t axis = 0; // in the order of routing
  bool minus = false;
  bool is_last = false; // of a ring with two channels: from its last place to its first, where channel 1 begins
};

// Hops along the axes of a torus, in their order; adaptive: along any of them.
template <bool adaptive_routing>
class TorusRoutes {
 public:
  static constexpr bool adaptive = adaptive_routing;
  static constexpr std::size_t most_hops = adaptive ? 6 : 1; // to choose from
  static constexpr std::size_t channels = adaptive ? 3 : 2;  // at most, of a link
  struct State {
    std::array<std::int8_t, 6> left{}; // hops by axis, in the order of routing; < 0: in the direction -
  };

  explicit TorusRoutes(const Fabric& fabric)
      : fabric_(fabric), axes_(fabric.axes.size()), ports_(2 * static_cast<std::uint32_t>(axes_)),
        two_(fabric.channels - adaptive == 2) {
    for (std::size_t i = 0; i < axes_; ++i) {
      const Axis& axis = fabric.torus->shape().axes()[static_cast<std::size_t>(fabric.axes[i])];
      length_[i] = axis.length, ring_[i] = axis.is_ring();
      port_[i] = 2 * static_cast<std::uint32_t>(fabric.axes[i]);
      order_[static_cast<std::size_t>(fabric.axes[i])] = static_cast<std::uint8_t>(i);
    }
  }

  Turn turn(std::uint32_t output, std::int32_t vertex) const {
    const std::uint32_t port = output % ports_;
    const std::uint8_t i = order_[port / 2];
    const bool minus = port % 2 != 0;
    return {i, minus, two_ && ring_[i] && coordinate(vertex, i) == (minus ? 0 : length_[i] - 1)};
  }

  // `number`: of the message. `channels`: by axis, whether packets are on the second one of the axes' order.
  State start(std::int32_t from, std::int32_t to, std::uint64_t number, std::uint8_t& channels_of_axes) {
    State state;
    channels_of_axes = 0;
    const std::uint64_t chance = mixed(number, 0);
    for (std::size_t i = 0; i < axes_; ++i) {
      const std::int32_t a = coordinate(from, i), b = coordinate(to, i),
                         hops = fabric_.torus->hops(fabric_.axes[i], a, b);
      state.left[i] = static_cast<std::int8_t>(hops);
      const bool crosses = ring_[i] && (hops >= 0 ? b < a : b > a);
      if (two_ && !crosses && (adaptive || (chance >> i & 1) != 0))
        channels_of_axes |= static_cast<std::uint8_t>(1U << i);
    }
    return state;
  }
  void finish(const State&) {}

  // The hops to choose from, the axes' order first; none: the packet has arrived.
  std::size_t hops(const State& state, std::uint8_t channels_of_axes, std::int32_t vertex, RouteHop* hops) const {
    static_assert(std::endian::native == std::endian::little);
    std::uint32_t four = 0; // a byte for each axis; in one piece they would go through the stack
    std::uint16_t two = 0;
    std::memcpy(&four, state.left.data(), 4), std::memcpy(&two, state.left.data() + 4, 2);
    std::uint64_t left = static_cast<std::uint64_t>(two) << 32 | four;
    std::size_t count = 0;
    while (left != 0) {
      const auto i = static_cast<unsigned>(std::countr_zero(left)) / 8;
      const auto minus = static_cast<std::uint32_t>(left >> (8 * i + 7) & 1);
      hops[count++] = {static_cast<std::uint32_t>(vertex) * ports_ + port_[i] + minus,
                       static_cast<std::uint8_t>(channels_of_axes >> i & 1)};
      if (!adaptive) break;
      left &= ~(std::uint64_t{0xFF} << (8 * i));
    }
    return count;
  }

  // The channels after the hop.
  std::uint8_t cross(State& state, std::uint8_t channels_of_axes, Turn turn) const {
    state.left[turn.axis] = static_cast<std::int8_t>(state.left[turn.axis] + (turn.minus ? 1 : -1));
    return static_cast<std::uint8_t>(channels_of_axes | static_cast<unsigned>(turn.is_last) << turn.axis);
  }

 private:
  std::int32_t coordinate(std::int32_t vertex, std::size_t i) const {
    return fabric_.coordinates[static_cast<std::size_t>(vertex) * axes_ + i];
  }

  const Fabric& fabric_;
  std::size_t axes_;
  std::uint32_t ports_;
  bool two_; // channels of each link for the axes' order
  std::array<std::int32_t, 6> length_{};
  std::array<bool, 6> ring_{};
  std::array<std::uint32_t, 8> port_{};
  std::array<std::uint8_t, 6> order_{}; // by axis
};

// The topology's routes, one for each message.
template <std::size_t most_channels>
class TableRoutes {
 public:
  static constexpr bool adaptive = false;
  static constexpr std::size_t most_hops = 1, channels = most_channels;
  struct State { // a place in the table
    std::array<std::uint16_t, 3> words{};
    std::size_t at() const { return static_cast<std::size_t>(words[0]) << 16 | words[1]; }
    static State of(std::size_t at) {
      return {{static_cast<std::uint16_t>(at >> 16), static_cast<std::uint16_t>(at), 0}};
    }
  };

  explicit TableRoutes(const Fabric& fabric) : fabric_(fabric), node_(static_cast<std::size_t>(fabric.vertices), -1) {
    for (std::size_t node = 0; node < fabric.vertex.size(); ++node)
      node_[static_cast<std::size_t>(fabric.vertex[node])] = static_cast<std::int32_t>(node);
  }

  Turn turn(std::uint32_t, std::int32_t) const { return {}; }
  State start(std::int32_t from, std::int32_t to, std::uint64_t, std::uint8_t&) {
    route_.clear();
    const auto node = [&](std::int32_t v) { return NodeId{node_[static_cast<std::size_t>(v)]}; };
    fabric_.topology->append_route(node(from), node(to), route_);
    const std::size_t length = route_.size();
    if (free_.size() <= length) free_.resize(length + 1);
    std::size_t first = hops_.size();
    if (free_[length].empty()) {
      hops_.resize(first + length + 1);
    } else {
      first = free_[length].back();
      free_[length].pop_back();
    }
    std::uint8_t channel = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const auto link = static_cast<std::uint32_t>(route_[i].value);
      if (i > 0 && fabric_.order[link] <= fabric_.order[static_cast<std::size_t>(route_[i - 1].value)]) ++channel;
      hops_[first + i] = {link, channel};
    }
    hops_[first + length] = {end, 0};
    return State::of(first);
  }
  void finish(const State& state) { // as it was at the start
    std::size_t length = 0;
    while (hops_[state.at() + length].output != end) ++length;
    free_[length].push_back(state.at());
  }

  std::size_t hops(const State& state, std::uint8_t, std::int32_t, RouteHop* hops) const {
    *hops = hops_[state.at()];
    return hops->output == end ? 0 : 1;
  }
  std::uint8_t cross(State& state, std::uint8_t bits, Turn) const {
    state = State::of(state.at() + 1);
    return bits;
  }

 private:
  static constexpr std::uint32_t end = 0xFFFFFFFFU;
  const Fabric& fabric_;
  std::vector<std::int32_t> node_; // by vertex
  std::vector<RouteHop> hops_;
  std::vector<std::vector<std::size_t>> free_; // places in hops_, by length
  std::vector<LinkId> route_;
};

} // namespace kumihimo::packet
