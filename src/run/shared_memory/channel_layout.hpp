// A one-way channel between two ranks of a node, in memory that both have mapped: a ring of slots, each a header on a
// cache line of its own and a data area. The sender copies a message in, chunk by chunk. The receiver reduces or copies
// it straight out of the slots. Neither end waits: each moves what it can and returns.
//
// Why the layout is as it is:
//  - A tiny message travels in the header's line, so one line transfer brings flag and data.
//  - On two cores of an EPYC ordinary stores to lines that the other core has read run at 2.5 to 11 GB/s, because each
//    line must be invalidated there first. Non-temporal stores run at 30 to 75 GB/s, and the other core then reads at
//    13 to 18 GB/s. On a Xeon (Sapphire Rapids) such stores go to memory, from which the other core must fetch them. So
//    chunks are copied in by the plan for copies to another core, which is tuned or follows from the processor's vendor
//    (kernels::copy_plan, bench/results/channel.md).
//  - Slots are used in turn and acknowledged a quarter of the ring at a time, to keep the acknowledging line quiet.
//
// The messages of a channel travel in the order in which they were started, each with its key. A message that arrives
// before its receive was started stays in its slots while nothing else is expected. Otherwise the receiver copies it to
// the heap, so that no message holds up another. A message of the wrong length is an error, found at its first chunk,
// before a byte of it is delivered.
//
// Single copy: a long message that allows it (SendRequest::allows_single_copy) stays in the sender's memory if the
// receiver may read that. The sender puts an offer into a slot: where the message is. The receiver has the kernel copy
// it to its destination and answers by a bit of its line; the message is open until then. If the kernel refuses (device
// memory, lost rights), the answer is a refusal: this message and all later ones go through the slots.
//
// An end that gives up writes that into the lines that the other end reads anyway, so that it does not wait for ever.
#pragma once

#include "shared_memory/peer_process.hpp"
#include "transport/message.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace kumihimo::shared_memory {

inline constexpr std::int64_t cache_line_bytes = 64;
inline constexpr std::int64_t inline_bytes = 32;

// A MessageKey without its peer, in two words.
struct ChannelKey {
  std::uint64_t instance_segment = 0; // the low halves of both
  std::uint64_t lane_ordinal = 0;     // lane, ordinal, signal
  bool operator==(const ChannelKey&) const = default;
};
ChannelKey channel_key(const transport::MessageKey& key);

inline constexpr std::uint64_t given_up = ~std::uint64_t{0};

struct alignas(cache_line_bytes) SlotHeader {
  std::atomic<std::uint64_t> sequence; // n + 1 once slot n, counted over the channel's life, is filled; or given_up
  ChannelKey key;
  std::uint64_t left : 44;  // bytes of the message from this chunk on; in its first chunk all
  std::uint64_t bytes : 20; // of this chunk; or `offered`
  std::byte small[inline_bytes];
};
static_assert(sizeof(SlotHeader) == cache_line_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// SlotHeader::bytes of a message that stays in the sender's memory. `small` holds the Offer and its piece; if there are
// several pieces, the slot holds them.
inline constexpr std::uint64_t offered = (1u << 20) - 1;
struct Offer {
  std::uint64_t ticket = 0; // a bit of AcknowledgeLine
  std::uint64_t pieces = 0;
};
inline constexpr std::int32_t tickets = 64;
static_assert(sizeof(Offer) + sizeof(RemotePiece) <= inline_bytes);

struct alignas(cache_line_bytes) AcknowledgeLine {
  std::atomic<std::uint64_t> consumed; // slots emptied by the receiver; or given_up
  // By ticket: a bit that flips with each answer to an offer; whether that answer was a refusal.
  std::atomic<std::uint64_t> answered, refused;
};
static_assert(sizeof(AcknowledgeLine) == cache_line_bytes);

// Written by the sender: what was read from its memory is void.
struct alignas(cache_line_bytes) RevokeLine {
  std::atomic<std::uint64_t> revoked;
};

struct RingShape {
  std::int64_t slots = 16;         // a power of two
  std::int64_t slot_bytes = 65536; // below 2^20, see SlotHeader

  // So that slots start in different cache sets.
  std::int64_t slot_stride() const { return slot_bytes + 2 * cache_line_bytes; }
  // Memory of one channel, a multiple of a cache line: one line for each end, the headers, the data.
  std::int64_t channel_bytes() const { return 2 * cache_line_bytes + slots * (cache_line_bytes + slot_stride()); }
};

// The addresses of a channel in this process.
struct ChannelMemory {
  AcknowledgeLine* acknowledge = nullptr;
  RevokeLine* revoke = nullptr;
  SlotHeader* headers = nullptr;
  std::byte* data = nullptr;
  RingShape shape;

  std::uint64_t turn(std::uint64_t n) const { return n & static_cast<std::uint64_t>(shape.slots - 1); }
  SlotHeader& header(std::uint64_t n) const { return headers[turn(n)]; }
  std::byte* slot(std::uint64_t n) const { return data + static_cast<std::int64_t>(turn(n)) * shape.slot_stride(); }
};
// `start` is aligned to a cache line.
ChannelMemory channel_at(std::byte* start, RingShape shape);
// Empties the channel, before either end uses it.
void clear(const ChannelMemory& memory);

} // namespace kumihimo::shared_memory
