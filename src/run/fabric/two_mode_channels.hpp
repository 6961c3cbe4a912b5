// Two-mode channels: receive buffers that grow with the peers a process talks to, not with the machine. Pure: a state
// machine that knows no network, no clock and no memory, only how much of each there is and which messages go where.
//
// A channel has slots at the receiver. A short message goes at once (eager) while its sender has a slot, and keeps the
// slot until the receiver has taken it. Every other message is announced, or its receiver says where it goes
// (rendezvous); it needs no slot, so a receiver that waits for one message never waits for a slot of another.
//
// A process has nothing for a peer before the first contact, which is a short message that had no slot. It then offers
// a small channel: with slots of its own, or with some of one pool. A peer from which enough messages have come gets a
// large channel. At the limit of a mode, the channel that has been idle longest makes room: a large one becomes small,
// and one of the pool gives its slots back.
//
// A channel changes by a handshake: the receiver offers, the sender confirms with the number of messages that it has
// sent into the old slots. When these have all come and were taken, the receiver frees the old slots. Each channel has
// a number, its epoch. So the messages between two processes may overtake each other, as they do on several engines;
// none is lost or doubled, as connections promise.
#pragma once

#include "fabric/channel_sizes.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::fabric {

using ChannelEpoch = std::uint16_t;

// What one process tells another.
struct ChannelMessage {
  enum class Kind : std::uint8_t {
    offer,   // receiver: from now on, `count` slots of `mode`
    confirm, // sender: I have sent `count` messages into the slots before
    credits, // receiver: `count` slots are empty again
    lost     // either: you are lost to me
  };
  Kind kind = Kind::offer;
  ChannelMode mode = ChannelMode::none; // of the channel that is offered
  ChannelEpoch epoch = 0;               // of that channel; of credits: of theirs
  std::uint16_t count = 0;              // of messages modulo 65,536: no more than 64 are under way
  auto operator<=>(const ChannelMessage&) const = default;
};

struct AddressedMessage {
  std::int32_t peer = 0;
  ChannelMessage message;
};

// Memory of one channel comes or goes.
struct ChannelChange {
  std::int32_t peer = 0;
  ChannelEpoch epoch = 0;
  ChannelMode mode = ChannelMode::none;
  bool is_new = false;
};

class TwoModeChannels {
 public:
  explicit TwoModeChannels(const ChannelSizes& sizes) : sizes_(sizes) {}

  // Sender: the channel into which a message of so many bytes goes now; nullopt: by rendezvous.
  std::optional<ChannelEpoch> take_slot(std::int32_t peer, std::int64_t bytes);

  // Receiver: a peer announced a message that a large channel would take.
  void hear(std::int32_t peer);
  void arrive(std::int32_t peer, ChannelEpoch epoch); // a message in a slot
  void empty(std::int32_t peer, ChannelEpoch epoch);  // which the program has taken
  // Empty slots that a message to the peer may tell in passing.
  std::optional<ChannelMessage> take_credits(std::int32_t peer);

  // A peer that is dead, or whose messages may be lost. Its channels go, each when its last message was taken, and it
  // gets none again: what comes from it means nothing, and is answered by the word that it is lost.
  void lose(std::int32_t peer);
  bool is_lost(std::int32_t peer) const;

  // A message of another process.
  void take(std::int32_t peer, const ChannelMessage& message);
  // What to send and to change now; empty afterwards.
  std::vector<AddressedMessage> take_outgoing() { return std::exchange(outgoing_, {}); }
  std::vector<ChannelChange> take_changes() { return std::exchange(changes_, {}); }

  // Memory for receiving, now, with that of channels which are about to be freed.
  std::int64_t receive_bytes() const;
  std::int64_t channels(ChannelMode mode) const { return channels_[index(mode)]; }
  ChannelMode mode_of(std::int32_t peer) const;          // of the channel by which this process receives from it
  std::int64_t slots_to(std::int32_t peer) const;        // that this process may fill
  std::int64_t slots_owed_to(std::int32_t peer) const;   // that are empty, or will be, and were not given back
  std::int64_t slots_filled_by(std::int32_t peer) const; // with messages that were not taken, of all channels from it
  // Nothing to send, no channel is changing, and no peer waits for a larger one.
  bool is_at_rest() const;
  // Empty, or the rule that a message of a peer has broken: a slot that was not granted, or was freed.
  const std::string& violation() const { return violation_; }

  // Everything that decides about the future, for comparing states.
  void append_state(std::vector<std::int64_t>& words) const;

 private:
  // Small, because there may be one for each rank of a machine: 40 bytes a peer.
  struct Channel { // at its receiver
    ChannelMode mode = ChannelMode::none;
    std::uint8_t filled = 0, emptied = 0; // slots; `emptied` ones were not given back yet
    ChannelEpoch epoch = 0;
    std::uint16_t arrived = 0; // messages so far
  };
  enum class Phase : std::uint8_t { settled, offered, leaving };
  struct Peer {
    // Sender's side.
    ChannelMode to_mode = ChannelMode::none;
    std::uint8_t to_slots = 0; // that may be filled
    ChannelEpoch to_epoch = 0;
    std::uint16_t to_sent = 0; // into this channel
    // Receiver's side.
    Channel now, other; // other: the one that is offered, or that is left
    Phase phase = Phase::settled;
    bool is_candidate = false, is_confirmed = false, is_lost = false;
    std::uint16_t confirmed = 0;  // messages into `now` before the offer was heard
    std::uint16_t offered_at = 0; // on the clock, modulo 65,536
    std::uint32_t messages = 0;   // since the last change
    std::uint32_t last_used = 0;
  };

  static std::size_t index(ChannelMode mode) { return static_cast<std::size_t>(mode); }
  Peer& peer_of(std::int32_t peer);
  Channel* find(Peer& p, ChannelEpoch epoch);
  std::uint32_t idle_time(const Peer& p) const { return clock_ - p.last_used; }
  std::uint16_t change_time(const Peer& p) const { return static_cast<std::uint16_t>(clock_ - p.offered_at); }
  bool is_late(const Peer& p) const { return change_time(p) > sizes_.promoted_after; }
  bool has_room(ChannelMode mode) const { return channels(mode) < sizes_.most(mode); }
  void count(std::int32_t peer, Peer& p);
  void change_modes();
  bool is_leaving(const Peer& p, ChannelMode mode) const;
  bool make_room(ChannelMode mode, const Peer& candidate);
  void offer(std::int32_t peer, Peer& p, ChannelMode mode);
  void hold(std::int32_t peer, ChannelMode mode, ChannelEpoch epoch);
  void let_go(std::int32_t peer, const Channel& channel);
  void switch_over(std::int32_t peer, Peer& p);
  void free_old(std::int32_t peer, Peer& p);
  void free_lost(std::int32_t peer, Peer& p);
  void say(std::int32_t peer, const ChannelMessage& message) { outgoing_.push_back({peer, message}); }

  ChannelSizes sizes_;
  // By number. A vector that grows would keep room for half as many again, and copy all.
  std::deque<Peer> peers_;
  std::deque<std::int32_t> candidates_; // for more slots, the first that earned them first
  // Of each mode with a limit: peers that have a channel, are offered it, or are leaving it. Of all modes: how many.
  std::vector<std::int32_t> holders_[3];
  std::int64_t channels_[3] = {};
  std::uint32_t clock_ = 0;
  std::vector<AddressedMessage> outgoing_;
  std::vector<ChannelChange> changes_;
  std::string violation_;
};

} // namespace kumihimo::fabric
