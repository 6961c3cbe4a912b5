// A one-way channel between two ranks of a node, in memory that both have mapped: a ring of slots, each a header on a
// cache line of its own and a data area. The sender copies a message in, chunk by chunk; the receiver reduces or copies
// it straight out of the slots. Nobody waits inside: both ends move what they can and return.
//
// What the layout rests on:
//  - a tiny message travels in the header's line, so that one line transfer brings flag and data;
//  - on two cores of an EPYC ordinary stores to lines that the other core has read run at 2.5 to 11 GB/s, because each
//    must be invalidated there first; non-temporal stores at 30 to 75 GB/s, after which the other core reads at 13 to
//    18 GB/s. On two of a Xeon (Sapphire Rapids) such stores reach the memory, from which the other core must fetch
//    them. So chunks are copied in by the plan for copies to another core: tuned, or by the processor's vendor
//    (kernels::copy_plan, bench/results/channel.md);
//  - slots are used in turn, and acknowledged a quarter of the ring at a time, to keep the acknowledging line quiet.
//
// Messages of one channel travel in the order in which they were started, each with its key. One that arrives before
// its receive was started stays in its slots as long as nothing else is expected; otherwise it is set aside on the
// heap, so that no message ever holds up another. One that has not the length its receiver expects is an error, found
// at its first chunk, before a byte of it is delivered.
//
// A long message that may stay where it is (SendRequest::allows_single_copy) is not copied in where its receiver may
// read the sender's memory: a slot only says where it lies, the receiver has the kernel copy it straight to its place,
// and says so by a bit of its line. It is open until then. Where the kernel refuses after all (memory of a device's,
// rights that were given up) the receiver says that instead, and the message goes through the slots, as all later ones
// do.
//
// An end that gives up says so in the lines that the other one looks at anyway, so that it need not wait for ever.
#pragma once

#include "kernels/plans.hpp"
#include "shared_memory/cross_memory_attach.hpp"
#include "transport/transport.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <optional>
#include <vector>

namespace kumihimo::shared_memory {

inline constexpr std::int64_t cache_line_bytes = 64;
inline constexpr std::int64_t inline_bytes = 32;

// MessageKey without the peer, in two words.
struct ChannelKey {
  std::uint64_t instance_segment = 0; // low halves of both
  std::uint64_t lane_ordinal = 0;     // lane, ordinal, signal
  bool operator==(const ChannelKey&) const = default;
};
ChannelKey channel_key(const transport::MessageKey& key);

inline constexpr std::uint64_t given_up = ~std::uint64_t{0};

struct alignas(cache_line_bytes) SlotHeader {
  std::atomic<std::uint64_t> sequence; // n + 1 once the n-th slot of the channel's life is filled; or given_up
  ChannelKey key;
  std::uint64_t left : 44;  // bytes of the message from this chunk on: in its first chunk, all
  std::uint64_t bytes : 20; // of this chunk; or `elsewhere`
  std::byte small[inline_bytes];
};
static_assert(sizeof(SlotHeader) == cache_line_bytes);
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// SlotHeader::bytes of a message that lies in the sender's memory: `small` holds the Offer, and its one piece; of
// several pieces, the slot.
inline constexpr std::uint64_t elsewhere = (1u << 20) - 1;
struct Offer {
  std::uint64_t ticket = 0; // a bit of AcknowledgeLine
  std::uint64_t pieces = 0;
};
inline constexpr std::int32_t tickets = 64;
static_assert(sizeof(Offer) + sizeof(RemotePiece) <= inline_bytes);

struct alignas(cache_line_bytes) AcknowledgeLine {
  std::atomic<std::uint64_t> consumed; // slots emptied by the receiver; or given_up
  // By ticket, each bit turned over when an offer was dealt with; and whether the last one was refused.
  std::atomic<std::uint64_t> answered, refused;
};
static_assert(sizeof(AcknowledgeLine) == cache_line_bytes);

// Written by the sender: nothing that was read from its memory counts any more.
struct alignas(cache_line_bytes) RevokeLine {
  std::atomic<std::uint64_t> revoked;
};

struct RingShape {
  std::int64_t slots = 16;         // a power of two
  std::int64_t slot_bytes = 65536; // below 2^20, see SlotHeader

  // Slots begin at different cache sets.
  std::int64_t slot_stride() const { return slot_bytes + 2 * cache_line_bytes; }
  // Memory of one channel, a multiple of a cache line: a line of each end's, the headers, the data.
  std::int64_t channel_bytes() const { return 2 * cache_line_bytes + slots * (cache_line_bytes + slot_stride()); }
};

// Where the parts of a channel lie in this process.
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
// Makes the channel empty; before either end uses it.
void clear(const ChannelMemory& memory);

// The sender's end.
class ChannelSender {
 public:
  // Messages of so many bytes and more are left where they lie; of the receiver, that it can read them there.
  static constexpr std::int64_t all_copied = std::int64_t{1} << 62;
  // `copy`: of chunks into the slots.
  explicit ChannelSender(ChannelMemory memory, std::int64_t offered_from_bytes = all_copied,
                         const kernels::CopyPlan& copy = kernels::copy_plan(kernels::Reader::other_core))
      : memory_(memory), offered_from_bytes_(offered_from_bytes), copy_(copy) {}
  void start(transport::SendRequest& message);
  bool progress(); // true: something moved
  bool busy() const { return !waiting_.empty() || taken_ != 0; }
  void give_up(); // nothing is sent any more; what the receiver has not read yet may be lost
  bool has_lost_peer() const { return known_consumed_ == given_up; } // found where there is no room

 private:
  struct Position {
    std::int32_t piece = 0;
    std::int64_t done_in_piece = 0, done = 0;
  };
  bool has_room();
  bool write(transport::SendRequest& message, Position& position); // true: nothing of it is left to be written
  void write_chunk(transport::SendRequest& message, Position& position);
  bool may_offer(const transport::SendRequest& message) const;
  void offer(transport::SendRequest& message);
  SlotHeader& begin_slot(const transport::SendRequest& message, std::int64_t left);
  bool take_answers();

  ChannelMemory memory_;
  std::int64_t offered_from_bytes_;
  kernels::CopyPlan copy_;
  std::uint64_t filled_ = 0, known_consumed_ = 0;
  std::uint64_t taken_ = 0, known_answered_ = 0; // by ticket
  std::array<transport::SendRequest*, tickets> offered_{};
  std::deque<transport::SendRequest*> waiting_;
  Position front_; // of waiting_.front()
};

// The receiver's end.
class ChannelReceiver {
 public:
  explicit ChannelReceiver(ChannelMemory memory, std::int64_t sender = 0)
      : memory_(memory), sender_(sender) {} // its process
  void start(transport::ReceiveRequest& message);
  bool progress(); // true: something moved
  bool busy() const { return current_ || current_aside_ || reading_ || !expected_.empty(); }
  void give_up(); // nothing is taken any more
  // A message that was not the one expected: it stays undelivered, and the inbox busy. Or one that will never come.
  const std::optional<Error>& error() const { return error_; }
  std::int64_t set_aside() const { return static_cast<std::int64_t>(aside_.size()); }
  std::int64_t set_aside_room_bytes() const; // allocated for them

 private:
  // A message that came before its receive, or whose elements are larger than a slot.
  struct Aside {
    ChannelKey key;
    std::int64_t bytes = 0;      // of the whole message
    std::vector<std::byte> data; // those that have come
    std::uint64_t ticket = 0;
    std::vector<RemotePiece> pieces; // where it lies in the sender's memory
    bool whole = false;
    transport::ReceiveRequest* receiver = nullptr; // attached while it was still arriving
  };
  enum class Choice { deliver, set_aside, leave };

  bool take(std::int64_t most_bytes); // of what has come, up to the first chunk that has more; true: something
  SlotHeader* filled_slot();
  Choice choose(const SlotHeader& header);
  bool fits(const transport::ReceiveRequest& receiver, const SlotHeader& first_chunk);
  Aside& begin_aside(const SlotHeader& first_chunk);
  void take_chunk(const SlotHeader& header);
  void finish_aside();
  bool take_from_aside(transport::ReceiveRequest& message);
  void take_offer(const SlotHeader& header);
  // A message that is read from the sender's memory, in parts.
  struct Reading {
    transport::ReceiveRequest* message = nullptr;
    std::byte* place = nullptr; // of all of it as it is; null: through staging_
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
  std::vector<std::byte> staging_; // of what is not copied straight into place
  std::uint64_t emptied_ = 0, acknowledged_ = 0;
  std::vector<transport::ReceiveRequest*> expected_;
  transport::ReceiveRequest* current_ = nullptr; // of the message that is arriving now, in its middle
  Aside* current_aside_ = nullptr;               // or this
  std::list<Aside> aside_;
  std::optional<Error> error_;
};

} // namespace kumihimo::shared_memory
