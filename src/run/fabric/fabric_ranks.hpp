// Where the ranks of a communicator are: their ports' cards, one behind the other.
#pragma once

#include "fabric/port.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::fabric {

struct FabricRanks {
  std::uint32_t network = 0; // the communicator's number, the same on all ranks
  std::int32_t rank = 0;
  std::vector<std::byte> cards;
  std::size_t card_bytes = 0;

  std::int32_t ranks() const { return static_cast<std::int32_t>(cards.size() / card_bytes); }
  std::span<const std::byte> card(std::int32_t of) const {
    return std::span(cards).subspan(static_cast<std::size_t>(of) * card_bytes, card_bytes);
  }
  // Whether a rank is lost to the port, or its process has ended; pings those that the port has met.
  bool misses_one(FabricPort& port) const;
};

} // namespace kumihimo::fabric
