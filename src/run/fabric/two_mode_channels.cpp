#include "fabric/two_mode_channels.hpp"

#include <algorithm>

namespace kumihimo::fabric {
namespace {

using Kind = ChannelMessage::Kind;

std::size_t index(ChannelMode mode) { return static_cast<std::size_t>(mode); }

} // namespace

// --- sender

void TwoModeChannels::send(std::int32_t peer, std::int64_t bytes, std::int64_t serial) {
  Peer& p = peers_[peer];
  p.to_send.push_back({bytes, serial});
  push(peer, p);
}

// As many as there are slots for, in order.
void TwoModeChannels::push(std::int32_t peer, Peer& p) {
  while (!p.to_send.empty() && p.to_slots > 0) {
    const Waiting message = p.to_send.front();
    p.to_send.pop_front();
    --p.to_slots;
    const bool is_eager = message.bytes <= sizes_.eager_bytes(p.to_mode);
    say(peer, {is_eager ? Kind::eager : Kind::announce, p.to_mode, 0, message.bytes, message.serial});
    if (!is_eager) p.announced.push_back(message);
  }
  if (!p.to_send.empty()) request(peer, p);
}

// Once, until slots come. A channel with slots of its own grants them again without being asked.
void TwoModeChannels::request(std::int32_t peer, Peer& p) {
  const bool grants_by_itself =
      p.to_mode == ChannelMode::large || (p.to_mode == ChannelMode::small && !sizes_.is_pooled());
  if (p.has_requested || grants_by_itself) return;
  p.has_requested = true;
  say(peer, {Kind::request, ChannelMode::none, static_cast<std::int64_t>(p.to_send.size())});
}

// --- messages of other processes

void TwoModeChannels::take(std::int32_t peer, const ChannelMessage& message) {
  Peer& p = peers_[peer];
  switch (message.kind) {
  case Kind::request: open(peer, p, message.count); break;
  case Kind::grant:
    p.to_mode = message.mode;
    p.to_slots += message.count;
    p.has_requested = false;
    push(peer, p);
    break;
  case Kind::eager:
  case Kind::announce: fill(peer, p, message); break;
  case Kind::answer: {
    if (p.announced.empty()) {
      violation_ = "an answer to no announcement";
      break;
    }
    const Waiting first = p.announced.front();
    p.announced.pop_front();
    say(peer, {Kind::data, ChannelMode::none, 0, first.bytes, first.serial});
    break;
  }
  case Kind::data:
    for (Arrived& arrived : p.arrived)
      if (arrived.serial == message.serial) arrived.is_whole = true;
    break;
  case Kind::offer: // slots of the old mode that are left are given up by the confirmation
    say(peer, {Kind::confirm, message.mode, p.to_slots});
    p.to_mode = message.mode;
    p.to_slots = message.count;
    p.has_requested = false;
    push(peer, p);
    break;
  case Kind::confirm: {
    if (!p.offered) {
      violation_ = "a confirmation of no offer";
      break;
    }
    const ChannelMode old = p.mode;
    if (old == ChannelMode::small && sizes_.is_pooled()) pool_free_ += p.granted;
    p.freeing = old;
    p.mode = *p.offered;
    p.offered.reset();
    if (p.mode == ChannelMode::small) p.messages = 0; // those of the large channel earn it no other
    p.granted = p.mode == ChannelMode::large ? sizes_.large_slots : sizes_.is_pooled() ? 0 : sizes_.small_slots;
    free_old(peer, p);
    break;
  }
  }
  grant_from_pool();
  change_modes();
}

void TwoModeChannels::fill(std::int32_t peer, Peer& p, const ChannelMessage& message) {
  if (p.mode == ChannelMode::none || message.mode != p.mode || p.granted == 0) {
    violation_ = "a message in a slot that was not granted";
    return;
  }
  --p.granted;
  ++p.filled[index(p.mode)];
  p.last_used = ++clock_;
  if (++p.messages == sizes_.promoted_after && p.mode == ChannelMode::small) candidates_.push_back(peer);
  const bool is_eager = message.kind == Kind::eager;
  p.arrived.push_back({message.bytes, message.serial, p.mode, is_eager});
  if (is_eager) return;
  // The announcement is read at once, so its slot is free; the data need none.
  p.arrived.back().slot = ChannelMode::none;
  say(peer, {Kind::answer});
  give_back_slot(peer, p, p.mode);
}

// First contact, or a sender without slots of the pool.
void TwoModeChannels::open(std::int32_t peer, Peer& p, std::int64_t wanted) {
  if (p.mode == ChannelMode::large || p.offered) return; // slots of the new channel are on the way
  if (!sizes_.is_pooled()) {
    if (p.mode != ChannelMode::none) return;
    p.mode = ChannelMode::small;
    p.granted = sizes_.small_slots;
    return say(peer, {Kind::grant, p.mode, p.granted});
  }
  p.mode = ChannelMode::small;
  if (std::exchange(p.wanted, wanted) == 0) pool_waiting_.push_back(peer);
}

// In the order of the requests, and no more than a peer has messages: an unused slot would be lost to the others.
void TwoModeChannels::grant_from_pool() {
  while (!pool_waiting_.empty() && pool_free_ > 0) {
    const std::int32_t peer = pool_waiting_.front();
    Peer& p = peers_.at(peer);
    pool_waiting_.pop_front();
    const std::int64_t wanted = std::exchange(p.wanted, 0);
    if (p.mode != ChannelMode::small || p.offered) continue;
    const std::int64_t held = p.granted + p.filled[index(ChannelMode::small)];
    const std::int64_t count = std::clamp(std::min(wanted, sizes_.most_of_pool - held), std::int64_t{1}, pool_free_);
    pool_free_ -= count;
    p.granted += count;
    say(peer, {Kind::grant, p.mode, count});
  }
}

// --- receiver

bool TwoModeChannels::has_arrived(std::int32_t peer) const {
  const auto found = peers_.find(peer);
  return found != peers_.end() && !found->second.arrived.empty() && found->second.arrived.front().is_whole;
}

std::int64_t TwoModeChannels::receive(std::int32_t peer) {
  Peer& p = peers_.at(peer);
  const Arrived first = p.arrived.front();
  p.arrived.pop_front();
  if (first.slot != ChannelMode::none) give_back_slot(peer, p, first.slot);
  grant_from_pool();
  change_modes();
  return first.serial;
}

// A slot is empty again: of a channel that is being left it is freed, of the pool it is anybody's, of one's own it is
// granted again.
void TwoModeChannels::give_back_slot(std::int32_t peer, Peer& p, ChannelMode mode) {
  --p.filled[index(mode)];
  const bool of_pool = mode == ChannelMode::small && sizes_.is_pooled();
  if (of_pool) ++pool_free_;
  if (mode == p.freeing) return free_old(peer, p);
  if (of_pool || p.offered) return; // an offer is on the way: the sender leaves these slots
  ++p.granted;
  const std::int64_t slots = mode == ChannelMode::large ? sizes_.large_slots : sizes_.small_slots;
  if (p.granted + p.filled[index(mode)] > slots) violation_ = "more slots than a channel has";
  say(peer, {Kind::grant, mode, 1});
}

void TwoModeChannels::free_old(std::int32_t peer, Peer& p) {
  if (p.freeing == ChannelMode::none || p.filled[index(p.freeing)] > 0) return;
  if (p.freeing == ChannelMode::large) {
    --large_;
    std::erase(large_peers_, peer);
  }
  p.freeing = ChannelMode::none;
}

// Promotes peers that have earned it, in the order in which they did, and makes room for them.
void TwoModeChannels::change_modes() {
  while (!candidates_.empty()) {
    const std::int32_t peer = candidates_.front();
    Peer& p = peers_.at(peer);
    if (p.mode != ChannelMode::small || p.freeing != ChannelMode::none) return; // its last change is not over
    if (large_ == sizes_.most_large) return make_room_for(p);
    candidates_.pop_front();
    offer(peer, p, ChannelMode::large);
    large_peers_.push_back(peer);
  }
}

// Demotes the large channel that has been idle longest, if that is longer than the candidate has.
void TwoModeChannels::make_room_for(const Peer& candidate) {
  if (!sizes_.demotes) return candidates_.clear(); // nobody will ever make room
  std::int32_t idle = -1;
  for (const std::int32_t peer : large_peers_) {
    const Peer& other = peers_.at(peer);
    if (other.offered == ChannelMode::small || other.freeing == ChannelMode::large) return; // room is being made
    if (other.offered || other.freeing != ChannelMode::none) continue; // its last change is not over
    if (other.last_used < candidate.last_used && (idle < 0 || other.last_used < peers_.at(idle).last_used)) idle = peer;
  }
  if (idle < 0) return;
  offer(idle, peers_.at(idle), ChannelMode::small);
}

void TwoModeChannels::offer(std::int32_t peer, Peer& p, ChannelMode mode) {
  p.offered = mode;
  // A request of the old mode is answered by this; granted later, its slots would stay unused.
  if (std::exchange(p.wanted, 0) > 0) std::erase(pool_waiting_, peer);
  large_ += mode == ChannelMode::large;
  const bool none_yet = mode == ChannelMode::small && sizes_.is_pooled();
  say(peer, {Kind::offer, mode, mode == ChannelMode::large ? sizes_.large_slots : none_yet ? 0 : sizes_.small_slots});
}

// --- what there is

ChannelMode TwoModeChannels::mode_of(std::int32_t peer) const {
  const auto found = peers_.find(peer);
  return found == peers_.end() ? ChannelMode::none : found->second.mode;
}

std::int64_t TwoModeChannels::receive_bytes() const {
  std::int64_t bytes = peers_.empty() ? 0 : sizes_.pool_slots * sizes_.small_slot_bytes;
  bytes += large_ * sizes_.large_bytes();
  if (sizes_.is_pooled()) return bytes;
  for (const auto& [peer, p] : peers_) {
    const bool has_small =
        p.mode == ChannelMode::small || p.freeing == ChannelMode::small || p.offered == ChannelMode::small;
    if (has_small) bytes += sizes_.small_bytes();
  }
  return bytes;
}

bool TwoModeChannels::is_at_rest() const {
  return outgoing_.empty() && std::all_of(peers_.begin(), peers_.end(), [](const auto& each) {
           const Peer& p = each.second;
           return p.to_send.empty() && p.announced.empty() && p.arrived.empty() && !p.offered &&
                  p.freeing == ChannelMode::none;
         });
}

void TwoModeChannels::append_state(std::vector<std::int64_t>& words) const {
  const auto add = [&](std::int64_t word) { words.push_back(word); };
  add(pool_free_), add(large_);
  // Of the times of use only their order decides.
  std::vector<std::int64_t> times;
  for (const auto& [peer, p] : peers_) times.push_back(p.last_used);
  std::sort(times.begin(), times.end());
  for (const auto& [peer, p] : peers_) {
    add(peer), add(static_cast<std::int64_t>(p.to_mode)), add(p.to_slots), add(p.has_requested);
    add(static_cast<std::int64_t>(p.mode)), add(p.filled[1]), add(p.filled[2]), add(p.granted);
    add(p.offered ? static_cast<std::int64_t>(*p.offered) : -1), add(static_cast<std::int64_t>(p.freeing));
    add(p.wanted), add(std::min(p.messages, sizes_.promoted_after));
    add(std::lower_bound(times.begin(), times.end(), p.last_used) - times.begin());
    add(static_cast<std::int64_t>(p.to_send.size()));
    for (const Waiting& w : p.to_send) add(w.bytes), add(w.serial);
    add(static_cast<std::int64_t>(p.announced.size()));
    for (const Waiting& w : p.announced) add(w.serial);
    add(static_cast<std::int64_t>(p.arrived.size()));
    for (const Arrived& a : p.arrived) add(a.serial), add(static_cast<std::int64_t>(a.slot)), add(a.is_whole);
  }
  add(static_cast<std::int64_t>(pool_waiting_.size()));
  for (const std::int32_t peer : pool_waiting_) add(peer);
  add(static_cast<std::int64_t>(candidates_.size()));
  for (const std::int32_t peer : candidates_) add(peer);
}

} // namespace kumihimo::fabric
