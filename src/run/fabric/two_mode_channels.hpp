// Two-mode channels: receive buffers that grow with the peers a process talks to, not with the machine. Pure: a state
// machine that knows no network, no clock and no memory, only how much of each there is and which messages go where.
//
// A process has nothing for a peer before the first contact. A sender asks for a channel, and the receiver grants
// slots: a small channel, or slots of one pool that all small channels share. A peer from which enough messages have
// come gets a large channel, if the limit allows it; at the limit, the large channel that has been idle longest becomes
// small. Short messages are eager: they go into a slot. Longer ones announce themselves in a slot, and their data are
// put when the receiver has answered. A channel changes its mode by a handshake: the receiver offers, the sender
// confirms behind its last message into the old slots, and the receiver frees those when it has emptied them.
//
// Messages of the protocol between two processes keep their order and none is lost, as connections promise.
#pragma once

#include <compare>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace kumihimo::fabric {

enum class ChannelMode : std::uint8_t { none, small, large };

struct ChannelSizes { // of K by default
  std::int64_t small_slots = 16, small_slot_bytes = 128;
  std::int64_t large_slots = 64, large_slot_bytes = 16 << 10;
  std::int64_t small_eager_bytes = 128, large_eager_bytes = 13'700;
  std::int64_t promoted_after = 15; // messages
  std::int64_t most_large = 1024;
  bool demotes = true;           // ours: K's first ones stay
  std::int64_t pool_slots = 0;   // ours: slots that small channels share; 0: each has its own
  std::int64_t most_of_pool = 2; // slots that one peer may hold

  bool is_pooled() const { return pool_slots > 0; }
  std::int64_t eager_bytes(ChannelMode mode) const {
    return mode == ChannelMode::large ? large_eager_bytes : small_eager_bytes;
  }
  std::int64_t large_bytes() const { return large_slots * large_slot_bytes; }
  std::int64_t small_bytes() const { return small_slots * small_slot_bytes; }
};

// What one process tells another.
struct ChannelMessage {
  enum class Kind : std::uint8_t {
    request,  // sender: I have `count` messages; give me slots
    grant,    // receiver: `count` slots of `mode`, which was settled before
    eager,    // sender: a message, in a slot
    announce, // sender: a long message, in a slot
    answer,   // receiver: put the data of the oldest announced message
    data,     // sender: they are there
    offer,    // receiver: from your confirmation on, `count` slots of `mode`
    confirm   // sender: no more into the old slots
  };
  Kind kind = Kind::request;
  ChannelMode mode = ChannelMode::none;
  std::int64_t count = 0;
  std::int64_t bytes = 0, serial = 0; // of a message
  auto operator<=>(const ChannelMessage&) const = default;
};

struct AddressedMessage {
  std::int32_t peer = 0;
  ChannelMessage message;
};

// A queue that takes no memory while it is empty: std::deque takes 576 bytes, three times for each peer.
template <class T>
class ShortQueue {
 public:
  bool empty() const { return all_.empty(); }
  std::size_t size() const { return all_.size(); }
  const T& front() const { return all_.front(); }
  T& back() { return all_.back(); }
  void push_back(T value) { all_.push_back(std::move(value)); }
  void pop_front() {
    all_.erase(all_.begin());
    if (all_.empty()) all_.shrink_to_fit();
  }
  auto begin() const { return all_.begin(); }
  auto end() const { return all_.end(); }
  auto begin() { return all_.begin(); }
  auto end() { return all_.end(); }

 private:
  std::vector<T> all_;
};

class TwoModeChannels {
 public:
  explicit TwoModeChannels(const ChannelSizes& sizes) : sizes_(sizes), pool_free_(sizes.pool_slots) {}

  // The program sends; messages to a peer arrive in this order.
  void send(std::int32_t peer, std::int64_t bytes, std::int64_t serial);
  // A message of another process; the oldest first.
  void take(std::int32_t peer, const ChannelMessage& message);
  // The program takes the oldest message that has arrived from a peer, which empties its slot.
  bool has_arrived(std::int32_t peer) const;
  std::int64_t receive(std::int32_t peer); // its serial

  // What to send now; empty afterwards.
  std::vector<AddressedMessage> take_outgoing() { return std::exchange(outgoing_, {}); }

  // Memory for receiving, now, with that of channels which are about to be freed.
  std::int64_t receive_bytes() const;
  std::int64_t large_channels() const { return large_; }
  std::int64_t met() const { return static_cast<std::int64_t>(peers_.size()); }
  ChannelMode mode_of(std::int32_t peer) const; // of the channel by which this process receives from it
  // Nothing to send and nothing half done.
  bool is_at_rest() const;
  // Empty, or the rule that a message of a peer has broken: a slot that was not granted, or freed.
  const std::string& violation() const { return violation_; }

  // Everything that decides about the future, for comparing states.
  void append_state(std::vector<std::int64_t>& words) const;

 private:
  struct Waiting {
    std::int64_t bytes = 0, serial = 0;
  };
  struct Arrived {
    std::int64_t bytes = 0, serial = 0;
    ChannelMode slot = ChannelMode::none; // whose slot it keeps: none: its slot was given back already
    bool is_whole = true;                 // its data are here
  };
  struct Peer {
    // Sender's side.
    ChannelMode to_mode = ChannelMode::none;
    std::int64_t to_slots = 0; // that may be filled
    bool has_requested = false;
    ShortQueue<Waiting> to_send;
    ShortQueue<Waiting> announced; // wait for their answer
    // Receiver's side.
    ChannelMode mode = ChannelMode::none;
    std::int64_t filled[3] = {}; // slots in use, by mode
    std::int64_t granted = 0;    // to the sender and not used yet, of `mode`
    std::optional<ChannelMode> offered;
    ChannelMode freeing = ChannelMode::none; // confirmed away; freed when emptied
    std::int64_t wanted = 0;                 // slots of the pool
    std::int64_t messages = 0, last_used = 0;
    ShortQueue<Arrived> arrived;
  };

  void push(std::int32_t peer, Peer& p);
  void request(std::int32_t peer, Peer& p);
  void fill(std::int32_t peer, Peer& p, const ChannelMessage& message);
  void give_back_slot(std::int32_t peer, Peer& p, ChannelMode mode);
  void open(std::int32_t peer, Peer& p, std::int64_t wanted);
  void grant_from_pool();
  void change_modes();
  void offer(std::int32_t peer, Peer& p, ChannelMode mode);
  void make_room_for(const Peer& candidate);
  void free_old(std::int32_t peer, Peer& p);
  void say(std::int32_t peer, ChannelMessage message) { outgoing_.push_back({peer, message}); }

  ChannelSizes sizes_;
  std::map<std::int32_t, Peer> peers_;
  std::deque<std::int32_t> pool_waiting_; // in the order of their requests
  std::deque<std::int32_t> candidates_;   // for large channels
  std::vector<std::int32_t> large_peers_; // that have one, or are offered it, or are leaving it
  std::int64_t pool_free_;
  std::int64_t large_ = 0; // with offered ones and those that are still to be freed
  std::int64_t clock_ = 0;
  std::vector<AddressedMessage> outgoing_;
  std::string violation_;
};

} // namespace kumihimo::fabric
