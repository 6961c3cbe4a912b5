// Short messages of a process by its two-mode channels: the protocol (fabric/two_mode_channels.hpp), the memory of the
// slots (fabric/channel_memory.hpp), and the headers that name a process and its channel. The channels belong to the
// process, and not to a communicator, so headers name processes: a number made from the card of each.
//
// A peer is lost when a message to it has failed, or when its process has ended. Whether a message that failed came is
// unknown, so its slot cannot be used again. The channels of a lost peer are given back instead: the empty slots at
// once, the others when the program has taken their messages. What still comes from a lost peer is left out, and
// answered by the word that it is lost, by which it loses this process, too. It can be met again by another port, which
// has another card.
#pragma once

#include "fabric/channel_memory.hpp"
#include "fabric/two_mode_channels.hpp"
#include "fabric/wire.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>

namespace kumihimo::fabric {

using PeerId = std::int32_t; // of a process that was met

class ChannelCarrier {
 public:
  virtual void carry(PeerId peer, const WireHeader& header) = 0; // a message of kind channel
  virtual void broken_rule(const std::string& rule) = 0;         // a peer has broken it
  virtual void lost_by(PeerId peer) = 0;                         // the peer has lost this process

 protected:
  ~ChannelCarrier() = default;
};

class ChannelMessages {
 public:
  ChannelMessages(const ChannelSizes& sizes, ChannelCarrier& carrier)
      : channels_(sizes), memory_(sizes), carrier_(carrier) {}

  void name_self(std::span<const std::byte> card);
  void name(PeerId peer, std::span<const std::byte> card);

  // Sender. The slot into which a message goes now; nullopt: it must wait for its receiver to say where.
  std::optional<ChannelEpoch> take_slot(PeerId peer, std::int64_t bytes) { return channels_.take_slot(peer, bytes); }
  // Number of the slot's channel, and slots of the other direction that are empty again.
  void write_slot(PeerId peer, ChannelEpoch epoch, WireHeader& header);

  // Receiver. An eager message has come, whoever it is for; nullopt: it must be left out.
  std::optional<PeerId> note_arrival(const WireHeader& header);
  PeerId sender_of(const WireHeader& header) const { return peer_of_name_.at(header.address); } // of a noted message
  void hear(PeerId peer); // a short message was announced, because it had no slot
  // A message that has arrived and that nobody waits for. Null: its sender has broken the rules.
  std::byte* keep(PeerId peer, const WireHeader& header, std::span<const std::byte> data);
  // The message of this header was taken, from the slot in which it was kept if that is not null.
  void empty(PeerId peer, ChannelEpoch epoch, const std::byte* slot);

  void name_in(WireHeader& header) const { header.address = own_name_; } // this process
  void take(const WireHeader& header);                                   // of kind channel
  void answer_ping(const WireHeader& header);
  void lose(PeerId peer);

  const TwoModeChannels& channels() const { return channels_; }
  std::int64_t bytes() const { return memory_.bytes(); }
  std::int64_t kept() const { return memory_.full_slots(); } // messages in slots

 private:
  void settle();

  TwoModeChannels channels_;
  ChannelSlots memory_;
  ChannelCarrier& carrier_;
  std::unordered_map<std::uint64_t, PeerId> peer_of_name_;
  std::uint64_t own_name_ = 0;
};

} // namespace kumihimo::fabric
