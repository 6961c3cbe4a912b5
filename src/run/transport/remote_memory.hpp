// One-sided writes into the memory of other ranks, as networks with RDMA have them (ucp_put, fi_write, RDMA WRITE),
// with the two counts that make them safe: flags for the receiver, credits for the sender.
//
// A rank registers memory and gets a key, which names that memory on all ranks. A channel is one direction between two
// ranks, with a number that both know. A receiver with W slots grants W credits at first, and one more for each slot
// that it has emptied; the first grant also tells the sender the key. So a sender writes slot s (at s mod W) only after
// the receiver has emptied slot s - W.
//
// An implementation guarantees:
//  - Flags: when flags() returns n, the calling thread sees the data of the first n puts with a flag of that channel,
//    and of every put of the channel that was started before them.
//  - Credits: the data of a put for slot s reach the target only when more than s slots of the channel were granted. A
//    put that waits for its credit holds up the later puts of its channel, and no other channel.
//  - Order: the puts of a channel take effect in the order in which they were started; nothing orders two channels.
//  - Completion is local: the source may be changed or freed. It does not say that the target has the data.
//  - A put of no bytes needs no key, and carries a flag as others do.
//  - A put outside registered memory (an unknown key, bytes beyond the end) writes nothing and fails the transport.
// No function waits: Transport::progress() moves what can be moved. One thread per rank calls them.
#pragma once

#include "base/ids.hpp"
#include "base/result.hpp"

#include <cstddef>
#include <cstdint>

namespace kumihimo::transport {

// The name of a rank's registered memory, for all ranks; 0: none.
struct MemoryKey {
  std::uint64_t value = 0;
  bool exists() const { return value != 0; }
};

// Lives, at one address, from RemoteMemory::put() to its completion.
struct PutRequest {
  static constexpr std::int64_t no_slot = -1;

  Rank target;
  std::int32_t channel = 0;
  MemoryKey key;           // of the target's memory
  std::int64_t offset = 0; // bytes into it
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;
  std::int64_t slot = no_slot; // needs this slot's credit
  bool flag = false;           // counts at the target when its data are visible there
  std::int32_t* open = nullptr;

  void complete() { --*open; }
};

// What a receiver has granted on a channel so far.
struct Credits {
  MemoryKey key;
  std::int64_t slots = 0;
};

class RemoteMemory {
 public:
  virtual ~RemoteMemory() = default;

  // Other ranks may write these bytes until deregister_memory(). Error: the network can register no more.
  virtual Result<MemoryKey> register_memory(std::byte* data, std::int64_t bytes) = 0;
  virtual void deregister_memory(MemoryKey key) = 0; // while no put to it is under way

  // Receiver: `slots` more slots, of the memory `key` of this rank, for a sender.
  virtual void grant(Rank sender, std::int32_t channel, MemoryKey key, std::int64_t slots) = 0;
  // Receiver: how many puts with a flag have come.
  virtual std::int64_t flags(Rank sender, std::int32_t channel) = 0;

  // Sender.
  virtual Credits credits(Rank receiver, std::int32_t channel) = 0;
  virtual void put(PutRequest& request) = 0;
};

} // namespace kumihimo::transport
