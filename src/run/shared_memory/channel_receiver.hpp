// The receiver's end of a channel.
#pragma once

#include "shared_memory/channel_layout.hpp"

#include <list>
#include <optional>
#include <vector>

namespace kumihimo::shared_memory {

class ChannelReceiver {
 public:
  explicit ChannelReceiver(ChannelMemory memory, std::int64_t sender = 0)
      : memory_(memory), sender_(sender) {} // its process
  void start(transport::ReceiveRequest& message);
  bool progress(); // true: something moved
  bool busy() const { return current_ || current_unexpected_ || reading_ || !expected_.empty(); }
  void give_up(); // takes no more
  // A message that differs from the expected one, or one that will never come. It stays undelivered, and busy() true.
  const std::optional<Error>& error() const { return error_; }
  std::int64_t unexpected_messages() const { return static_cast<std::int64_t>(unexpected_.size()); }
  std::int64_t unexpected_bytes() const; // allocated for unexpected messages

 private:
  // A message that came before its receive, or whose elements are longer than a slot, copied to the heap.
  struct Unexpected {
    ChannelKey key;
    std::int64_t bytes = 0;      // of the whole message
    std::vector<std::byte> data; // what has come of them
    std::uint64_t ticket = 0;
    std::vector<RemotePiece> pieces; // if it is offered: where it is in the sender's memory
    bool whole = false;
    transport::ReceiveRequest* receiver = nullptr; // attached while it was still arriving
  };
  enum class Choice { deliver, copy_to_heap, leave };

  bool take(std::int64_t most_bytes); // filled slots up to the first longer chunk; true: any
  SlotHeader* filled_slot();
  Choice choose(const SlotHeader& header);
  bool fits(const transport::ReceiveRequest& receiver, const SlotHeader& first_chunk);
  Unexpected& begin_unexpected(const SlotHeader& first_chunk);
  void take_chunk(const SlotHeader& header);
  void finish_unexpected();
  bool take_unexpected(transport::ReceiveRequest& message);
  void take_offer(const SlotHeader& header);
  // A single copy in progress.
  struct Reading {
    transport::ReceiveRequest* message = nullptr;
    std::byte* place = nullptr; // destination of the whole message; null: reduced or scattered through staging_
    std::uint64_t ticket = 0;
    std::int64_t done = 0; // bytes
    std::vector<RemotePiece> pieces;
    RemoteReader walk{0, {}};
  };
  void read(transport::ReceiveRequest& message, std::vector<RemotePiece> pieces, std::uint64_t ticket);
  void read_on();
  int copy_some(Reading& reading);
  void answer(std::uint64_t ticket, bool refused);
  void release_slot();

  ChannelMemory memory_;
  std::int64_t sender_;
  std::optional<Reading> reading_;
  std::vector<std::byte> staging_; // for single copies that are reduced or scattered
  std::uint64_t emptied_ = 0, acknowledged_ = 0;
  std::vector<transport::ReceiveRequest*> expected_;
  transport::ReceiveRequest* current_ = nullptr; // of the message whose next chunk comes
  Unexpected* current_unexpected_ = nullptr;     // or its copy
  std::list<Unexpected> unexpected_;
  std::optional<Error> error_;
};

} // namespace kumihimo::shared_memory
