// What the tests of channels share.
#pragma once

#include "shared_memory/channel_receiver.hpp"
#include "shared_memory/channel_sender.hpp"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <vector>

namespace kumihimo::shared_memory::testing {

struct Free {
  void operator()(std::byte* p) const { std::free(p); }
};

// A channel in this process's memory.
struct Ring {
  explicit Ring(RingShape shape)
      : memory(static_cast<std::byte*>(std::aligned_alloc(64, static_cast<std::size_t>(shape.channel_bytes())))),
        channel(channel_at(memory.get(), shape)) {
    clear(channel);
  }
  std::unique_ptr<std::byte, Free> memory;
  ChannelMemory channel;
};

// A message with its bytes at both ends.
struct Letter {
  Letter(transport::MessageKey key, std::int64_t bytes, std::int64_t element_bytes, std::int32_t seed)
      : sent(static_cast<std::size_t>(bytes)), received(static_cast<std::size_t>(bytes), std::byte{0xee}) {
    for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(i * 7 + i / 251 + seed);
    send.key = receive.key = key;
    send.bytes = receive.bytes = bytes;
    send.element_bytes = element_bytes;
    send.allows_single_copy = true;
    send.open = &send_open;
    receive.open = &receive_open;
    send.only = {sent.data(), bytes};
    send.first_piece = &send.only;
    send.piece_count = bytes > 0 ? 1 : 0;
    receive.copy_into({received.data(), nullptr, 0}, element_bytes);
  }
  // Cuts what is sent into several pieces.
  void scatter(std::int64_t piece_bytes) {
    for (std::int64_t at = 0; at < send.bytes; at += piece_bytes)
      pieces.push_back({sent.data() + at, std::min(piece_bytes, send.bytes - at)});
    send.first_piece = pieces.data();
    send.piece_count = static_cast<std::int32_t>(pieces.size());
  }
  bool arrived() const { return receive_open == 0 && received == sent; }

  std::vector<std::byte> sent, received;
  std::vector<transport::Piece> pieces;
  transport::SendRequest send;
  transport::ReceiveRequest receive;
  std::int32_t send_open = 1, receive_open = 1;
};

inline transport::MessageKey key_of(std::int64_t ordinal, std::int32_t lane = 0, std::int64_t segment = 0,
                                    bool signal = false) {
  transport::MessageKey key;
  key.lane = LaneId{lane};
  key.segment = segment;
  key.ordinal = ordinal;
  key.signal = signal;
  return key;
}

inline constexpr RingShape small{4, 256};

} // namespace kumihimo::shared_memory::testing
