#include "fabric/two_mode_channels.hpp"

#include <algorithm>

namespace kumihimo::fabric {
namespace {

using Kind = ChannelMessage::Kind;

ChannelMode next_mode(ChannelMode mode) { return mode == ChannelMode::none ? ChannelMode::small : ChannelMode::large; }

} // namespace

TwoModeChannels::Peer& TwoModeChannels::peer_of(std::int32_t peer) {
  const auto at = static_cast<std::size_t>(peer);
  if (at >= peers_.size()) peers_.resize(at + 1);
  return peers_[at];
}

// --- sender

std::optional<ChannelEpoch> TwoModeChannels::take_slot(std::int32_t peer, std::int64_t bytes) {
  Peer& p = peer_of(peer);
  if (p.to_slots == 0 || bytes > sizes_.eager_bytes(p.to_mode)) return std::nullopt;
  --p.to_slots;
  ++p.to_sent;
  return p.to_epoch;
}

// --- messages of other processes

void TwoModeChannels::take(std::int32_t peer, const ChannelMessage& message) {
  Peer& p = peer_of(peer);
  if (message.kind == Kind::lost) return lose(peer);
  if (p.is_lost) return say(peer, {Kind::lost});
  switch (message.kind) {
  case Kind::offer: // slots of the old channel that are left are given up
    say(peer, {Kind::confirm, message.mode, message.epoch, p.to_sent});
    p.to_mode = message.mode;
    p.to_epoch = message.epoch;
    p.to_slots = static_cast<std::uint8_t>(message.count);
    p.to_sent = 0;
    break;
  case Kind::credits: // of a channel that was left since they mean nothing
    if (message.epoch == p.to_epoch) p.to_slots = static_cast<std::uint8_t>(p.to_slots + message.count);
    if (p.to_slots > sizes_.slots(p.to_mode)) violation_ = "more slots than a channel has";
    break;
  case Kind::confirm:
    if (p.phase != Phase::offered || p.is_confirmed || message.epoch != p.other.epoch) {
      violation_ = "a confirmation of no offer";
      break;
    }
    p.is_confirmed = true;
    p.confirmed = message.count;
    switch_over(peer, p);
    break;
  case Kind::lost: break;
  }
}

// --- receiver

TwoModeChannels::Channel* TwoModeChannels::find(Peer& p, ChannelEpoch epoch) {
  if (p.now.mode != ChannelMode::none && p.now.epoch == epoch) return &p.now;
  return p.other.mode != ChannelMode::none && p.other.epoch == epoch ? &p.other : nullptr;
}

void TwoModeChannels::hear(std::int32_t peer) { count(peer, peer_of(peer)); }

void TwoModeChannels::arrive(std::int32_t peer, ChannelEpoch epoch) {
  Peer& p = peer_of(peer);
  if (p.is_lost) return say(peer, {Kind::lost});
  Channel* const channel = find(p, epoch);
  const bool is_left = channel == &p.other && p.phase == Phase::leaving;
  if (!channel || is_left || channel->filled + channel->emptied >= sizes_.slots(channel->mode)) {
    violation_ = "a message in a slot that was not granted";
    return;
  }
  ++channel->filled;
  ++channel->arrived;
  switch_over(peer, p);
  count(peer, p);
}

void TwoModeChannels::empty(std::int32_t peer, ChannelEpoch epoch) {
  Peer& p = peer_of(peer);
  Channel* const channel = find(p, epoch);
  if (!channel || channel->filled == 0) {
    violation_ = "an empty slot was emptied";
    return;
  }
  --channel->filled;
  if (p.is_lost) return free_lost(peer, p);
  if (channel == &p.other && p.phase == Phase::leaving) return free_old(peer, p);
  ++channel->emptied;
  if (channel == &p.now && p.phase == Phase::offered) return; // the sender leaves these slots
  if (2 * channel->emptied < sizes_.slots(channel->mode)) return;
  say(peer, {Kind::credits, channel->mode, epoch, std::exchange(channel->emptied, std::uint8_t{0})});
}

std::optional<ChannelMessage> TwoModeChannels::take_credits(std::int32_t peer) {
  Peer& p = peer_of(peer);
  Channel& channel = p.phase == Phase::offered ? p.other : p.now;
  if (channel.emptied == 0) return std::nullopt;
  return ChannelMessage{Kind::credits, channel.mode, channel.epoch, std::exchange(channel.emptied, std::uint8_t{0})};
}

// A message of a peer: it may have earned another mode. Where no channel of the mode is left, somebody else's must go,
// which first contact alone does not earn.
void TwoModeChannels::count(std::int32_t peer, Peer& p) {
  if (p.is_lost) return say(peer, {Kind::lost});
  p.last_used = ++clock_;
  ++p.messages;
  if (p.is_candidate || p.phase != Phase::settled || p.now.mode == ChannelMode::large) return change_modes();
  const ChannelMode wanted = next_mode(p.now.mode);
  const bool is_free = wanted == ChannelMode::small && has_room(wanted);
  if (is_free || p.messages >= sizes_.promoted_after) {
    p.is_candidate = true;
    candidates_.push_back(peer);
  }
  change_modes();
}

// In the order in which they earned it.
void TwoModeChannels::change_modes() {
  while (!candidates_.empty()) {
    const std::int32_t peer = candidates_.front();
    Peer& p = peer_of(peer);
    const ChannelMode wanted = next_mode(p.now.mode);
    if (p.phase == Phase::settled && !has_room(wanted) && make_room(wanted, p)) return;
    candidates_.pop_front();
    p.is_candidate = false;
    if (p.phase == Phase::settled && has_room(wanted)) offer(peer, p, wanted);
  }
}

bool TwoModeChannels::is_leaving(const Peer& p, ChannelMode mode) const {
  if (p.phase == Phase::settled) return false;
  return (p.phase == Phase::offered ? p.now : p.other).mode == mode;
}

// The channel that has been idle longest goes, if that is longer than the candidate has been. False: none goes, and the
// candidate must earn it again. Nobody waits for the channel of a peer that does not answer, or whose messages the
// program does not take.
bool TwoModeChannels::make_room(ChannelMode mode, const Peer& candidate) {
  if (!sizes_.demotes) return false;
  std::int32_t idle = -1;
  for (const std::int32_t peer : holders_[index(mode)]) {
    const Peer& other = peer_of(peer);
    if (is_leaving(other, mode) && !is_late(other)) return true;  // room is being made
    if (other.is_lost || other.phase != Phase::settled) continue; // its last change is not over
    if (idle_time(other) > idle_time(idle < 0 ? candidate : peer_of(idle))) idle = peer;
  }
  if (idle < 0) return false;
  const bool becomes_small = mode == ChannelMode::large && has_room(ChannelMode::small);
  offer(idle, peer_of(idle), becomes_small ? ChannelMode::small : ChannelMode::none);
  return true;
}

void TwoModeChannels::offer(std::int32_t peer, Peer& p, ChannelMode mode) {
  p.phase = Phase::offered;
  p.is_confirmed = false;
  p.offered_at = static_cast<std::uint16_t>(clock_);
  p.other = {};
  p.other.mode = mode;
  p.other.epoch = static_cast<ChannelEpoch>(p.now.epoch + 1);
  hold(peer, mode, p.other.epoch);
  say(peer, {Kind::offer, mode, p.other.epoch, static_cast<std::uint16_t>(sizes_.slots(mode))});
}

void TwoModeChannels::hold(std::int32_t peer, ChannelMode mode, ChannelEpoch epoch) {
  if (mode == ChannelMode::none) return;
  ++channels_[index(mode)];
  if (sizes_.most(mode) != INT64_MAX) holders_[index(mode)].push_back(peer);
  changes_.push_back({peer, epoch, mode, true});
}

void TwoModeChannels::let_go(std::int32_t peer, const Channel& channel) {
  if (channel.mode == ChannelMode::none) return;
  --channels_[index(channel.mode)];
  if (sizes_.most(channel.mode) != INT64_MAX) std::erase(holders_[index(channel.mode)], peer);
  changes_.push_back({peer, channel.epoch, channel.mode, false});
}

// When all messages into the old slots have come.
void TwoModeChannels::switch_over(std::int32_t peer, Peer& p) {
  if (p.phase != Phase::offered || !p.is_confirmed || p.now.arrived != p.confirmed) return;
  std::swap(p.now, p.other);
  p.phase = Phase::leaving;
  p.messages = 0;
  free_old(peer, p);
}

void TwoModeChannels::free_old(std::int32_t peer, Peer& p) {
  if (p.other.filled > 0) return;
  let_go(peer, p.other);
  p.phase = Phase::settled;
  p.other = {};
  change_modes();
}

// --- lost peers

void TwoModeChannels::lose(std::int32_t peer) {
  Peer& p = peer_of(peer);
  if (std::exchange(p.is_lost, true)) return;
  if (std::exchange(p.is_candidate, false)) std::erase(candidates_, peer);
  p.to_mode = ChannelMode::none;
  p.to_slots = 0;
  p.phase = Phase::settled;
  p.now.emptied = p.other.emptied = 0;
  free_lost(peer, p);
}

void TwoModeChannels::free_lost(std::int32_t peer, Peer& p) {
  for (Channel* const channel : {&p.now, &p.other}) {
    if (channel->mode == ChannelMode::none || channel->filled > 0) continue;
    let_go(peer, *channel);
    channel->mode = ChannelMode::none;
  }
  change_modes();
}

// --- what there is

bool TwoModeChannels::is_lost(std::int32_t peer) const {
  const auto at = static_cast<std::size_t>(peer);
  return at < peers_.size() && peers_[at].is_lost;
}

ChannelMode TwoModeChannels::mode_of(std::int32_t peer) const {
  const auto at = static_cast<std::size_t>(peer);
  return at < peers_.size() ? peers_[at].now.mode : ChannelMode::none;
}

std::int64_t TwoModeChannels::slots_to(std::int32_t peer) const {
  const auto at = static_cast<std::size_t>(peer);
  return at < peers_.size() ? peers_[at].to_slots : 0;
}

std::int64_t TwoModeChannels::slots_owed_to(std::int32_t peer) const {
  const auto at = static_cast<std::size_t>(peer);
  return at < peers_.size() ? peers_[at].now.filled + peers_[at].now.emptied : 0;
}

std::int64_t TwoModeChannels::slots_filled_by(std::int32_t peer) const {
  const auto at = static_cast<std::size_t>(peer);
  return at < peers_.size() ? peers_[at].now.filled + peers_[at].other.filled : 0;
}

std::int64_t TwoModeChannels::receive_bytes() const {
  const std::int64_t large = channels(ChannelMode::large) * sizes_.channel_bytes(ChannelMode::large);
  if (!sizes_.is_pooled()) return large + channels(ChannelMode::small) * sizes_.channel_bytes(ChannelMode::small);
  return large + (clock_ > 0 ? sizes_.pool_slots * sizes_.small_slot_bytes : 0);
}

bool TwoModeChannels::is_at_rest() const {
  return outgoing_.empty() && candidates_.empty() &&
         std::all_of(peers_.begin(), peers_.end(), [](const Peer& p) { return p.phase == Phase::settled; });
}

void TwoModeChannels::append_state(std::vector<std::int64_t>& words) const {
  const auto add = [&](std::int64_t word) { words.push_back(word); };
  const auto add_channel = [&](const Channel& c) {
    add(static_cast<std::int64_t>(c.mode)), add(c.epoch), add(c.filled), add(c.emptied), add(c.arrived);
  };
  // Of the times of use only their order decides.
  std::vector<std::int64_t> times;
  for (const Peer& p : peers_) times.push_back(p.last_used);
  std::sort(times.begin(), times.end());
  for (const Peer& p : peers_) {
    add(static_cast<std::int64_t>(p.to_mode)), add(p.to_epoch), add(p.to_slots), add(p.to_sent);
    add_channel(p.now), add_channel(p.other);
    add(static_cast<std::int64_t>(p.phase)), add(p.is_candidate), add(p.is_confirmed ? p.confirmed : -1),
        add(p.is_lost);
    add(std::min<std::int64_t>(p.messages, sizes_.promoted_after));
    add(std::lower_bound(times.begin(), times.end(), p.last_used) - times.begin());
    add(p.phase == Phase::settled ? -1 : std::min<std::int64_t>(change_time(p), sizes_.promoted_after + 1));
  }
  for (const std::int32_t peer : candidates_) add(peer);
  add(-1);
  for (const auto& holders : holders_) {
    std::vector<std::int32_t> sorted = holders;
    std::sort(sorted.begin(), sorted.end());
    for (const std::int32_t peer : sorted) add(peer);
    add(-1);
  }
}

} // namespace kumihimo::fabric
