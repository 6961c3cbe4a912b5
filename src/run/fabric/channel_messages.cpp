#include "fabric/channel_messages.hpp"

namespace kumihimo::fabric {
namespace {

std::uint64_t name_of(std::span<const std::byte> card) { // FNV-1a
  std::uint64_t name = 0xcbf29ce484222325u;
  for (const std::byte b : card) name = (name ^ static_cast<std::uint64_t>(b)) * 0x100000001b3u;
  return name;
}

} // namespace

void ChannelMessages::name_self(std::span<const std::byte> card) { own_name_ = name_of(card); }

void ChannelMessages::name(PeerId peer, std::span<const std::byte> card) { peer_of_name_.emplace(name_of(card), peer); }

void ChannelMessages::write_slot(PeerId peer, ChannelEpoch epoch, WireHeader& header) {
  header.address = own_name_;
  header.number = epoch;
  const std::optional<ChannelMessage> credits = channels_.take_credits(peer);
  if (!credits) return;
  header.credits = static_cast<std::uint16_t>(credits->count);
  header.spare = credits->epoch;
}

std::optional<PeerId> ChannelMessages::note_arrival(const WireHeader& header) {
  const auto sender = peer_of_name_.find(header.address);
  if (sender == peer_of_name_.end()) { // so nobody has granted it a slot
    carrier_.broken_rule("a message of a process that was not met");
    return std::nullopt;
  }
  const PeerId peer = sender->second;
  const bool is_lost = channels_.is_lost(peer);
  if (!is_lost && header.credits > 0)
    channels_.take(peer, {ChannelMessage::Kind::credits, ChannelMode::none, static_cast<ChannelEpoch>(header.spare),
                          header.credits});
  channels_.arrive(peer, header.number);
  settle();
  return is_lost ? std::nullopt : std::optional(peer);
}

void ChannelMessages::hear(PeerId peer) {
  channels_.hear(peer);
  settle();
}

std::byte* ChannelMessages::keep(PeerId peer, const WireHeader& header, std::span<const std::byte> data) {
  return memory_.keep(peer, header.number, data);
}

void ChannelMessages::empty(PeerId peer, ChannelEpoch epoch, const std::byte* slot) {
  if (slot) memory_.give(peer, epoch, slot);
  channels_.empty(peer, epoch);
  settle();
}

void ChannelMessages::take(const WireHeader& header) {
  const auto sender = peer_of_name_.find(header.address);
  if (sender == peer_of_name_.end()) return; // one that this process never sent to nor heard of
  const auto kind = static_cast<ChannelMessage::Kind>(header.signal);
  if (kind == ChannelMessage::Kind::lost) carrier_.lost_by(sender->second);
  channels_.take(sender->second, {kind, static_cast<ChannelMode>(header.lane), header.number,
                                  static_cast<std::uint16_t>(header.bytes)});
  settle();
}

// One that this process has lost learns of it, though it waits without sending anything else.
void ChannelMessages::answer_ping(const WireHeader& header) {
  const auto sender = peer_of_name_.find(header.address);
  if (sender != peer_of_name_.end() && channels_.is_lost(sender->second)) hear(sender->second);
}

void ChannelMessages::lose(PeerId peer) {
  channels_.lose(peer);
  settle();
}

// What the protocol has decided.
void ChannelMessages::settle() {
  for (const ChannelChange& change : channels_.take_changes()) memory_.apply(change);
  for (const AddressedMessage& each : channels_.take_outgoing()) {
    WireHeader header;
    header.kind = WireKind::channel;
    header.signal = static_cast<std::uint8_t>(each.message.kind);
    header.lane = static_cast<std::uint16_t>(each.message.mode);
    header.number = each.message.epoch;
    header.bytes = each.message.count;
    header.address = own_name_;
    carrier_.carry(each.peer, header);
  }
  if (!channels_.violation().empty()) carrier_.broken_rule(channels_.violation());
}

} // namespace kumihimo::fabric
