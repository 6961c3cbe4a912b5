// A queue of messages: those of one lane from one rank to another, which are served in order.
#pragma once

#include "base/hash.hpp"

#include <cstddef>
#include <cstdint>

namespace kumihimo::simulation {

struct Channel {
  std::int32_t lane = 0, from = 0, to = 0;
  bool operator==(const Channel&) const = default;
};

struct ChannelHash {
  std::size_t operator()(const Channel& c) const noexcept {
    const auto word = [](std::int32_t i) { return static_cast<std::uint32_t>(i); };
    return mixed(mixed(word(c.lane), word(c.from)), word(c.to));
  }
};

} // namespace kumihimo::simulation
