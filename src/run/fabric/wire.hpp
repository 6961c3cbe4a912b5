// What processes send each other beside the data of puts: a header of at most 64 bytes, which providers over TCP inject
// without a copy, and the bytes of eager messages behind it.
#pragma once

#include "transport/message.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>

namespace kumihimo::fabric {

enum class WireKind : std::uint8_t {
  eager,    // a message, with its bytes
  ready,    // receiver to sender: put the bytes here
  announce, // sender to receiver: a message waits for its receiver, or has another length than asked for
  channel,  // of the channels of two processes (fabric/two_mode_channels.hpp), whatever communicators they share
  ping,     // finds out whether the process still answers
  done,     // a put has been delivered: of providers that give puts no data
  open,     // receiver to sender: put the messages of a call at the places of a list (fabric/place_lists.hpp)
  forget,   // receiver to sender: a list is used no more
  grant,
  flag,
  fail, // of remote memory (fabric/remote_memory.hpp)
  flush,
  flushed,
  meet // of accesses by users' programs, which send flags too (fabric/remote_access.hpp)
};

// Of a message or of a place for its bytes. All processes of a job have one architecture.
struct WireHeader {
  WireKind kind = WireKind::eager;
  std::uint8_t signal = 0;
  std::uint16_t lane = 0;
  std::uint32_t network = 0; // which communicator's
  std::uint32_t source = 0;  // rank in it
  std::uint32_t ordinal = 0, segment = 0;
  std::uint16_t credits = 0; // of an eager message: slots of the other direction that are empty again
  std::uint16_t number = 0;  // of the receive; of an eager message: its channel's epoch
  std::uint64_t instance = 0;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0, key = 0; // of a receiver's memory, as its provider counts; or the sender's name
  std::uint32_t chunk_bytes = 0;      // of a put: the message comes in several
  std::uint32_t spare = 0;            // the flag of `done`; of an eager message: the epoch of its credits
};
static_assert(sizeof(WireHeader) == 64);

// A message of a communicator: what transport::MessageKey says, cut to the bits that its contract needs.
struct WireKey {
  std::int32_t peer = 0;
  std::uint16_t lane = 0;
  bool signal = false;
  std::uint32_t ordinal = 0, segment = 0;
  std::uint64_t instance = 0;
  bool operator==(const WireKey&) const = default;
};

WireKey wire_key(const transport::MessageKey& key);
WireKey wire_key(const WireHeader& header);             // the peer is its source
void write_key(const WireKey& key, WireHeader& header); // without the peer

struct WireKeyHash {
  std::size_t operator()(const WireKey& key) const;
};

// The data of a put's flag: 32 bits, the least that any provider with remote data has. `number` names the receive; the
// rest is the chunk's, and whether an announcement of the message was sent, which may come later than the flag.
struct FlagData {
  static constexpr std::uint32_t most_chunks = 1u << 15;
  std::uint16_t number = 0, chunk = 0;
  bool announced = false;

  std::uint32_t word() const {
    return static_cast<std::uint32_t>(number) << 16 | (announced ? most_chunks : 0u) | chunk;
  }
  static FlagData of(std::uint32_t word) {
    return {static_cast<std::uint16_t>(word >> 16), static_cast<std::uint16_t>(word & (most_chunks - 1)),
            (word & most_chunks) != 0};
  }
};

// Whether this build has the network: it was compiled with libfabric's headers.
bool is_built();

} // namespace kumihimo::fabric
