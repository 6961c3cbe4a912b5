#include "loopback/switchboard.hpp"

#include "base/hash.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kumihimo::transport {

Switchboard::Switchboard(std::int32_t ranks, const LoopbackOptions& options)
    : stations_(static_cast<std::size_t>(ranks)), by_turns_(options.by_turns),
      deadline_(std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(
                                                       std::chrono::duration<double>(options.timeout.value))) {}

std::size_t Switchboard::Hash::operator()(const Key& k) const {
  std::uint64_t h = k.instance;
  for (const std::int64_t part :
       {std::int64_t{k.from}, std::int64_t{k.to}, std::int64_t{k.lane}, k.segment, k.ordinal, std::int64_t{k.signal}})
    h = mixed(h, static_cast<std::uint64_t>(part));
  return h;
}

void Switchboard::post(Rank from, SendRequest& message) {
  const MessageKey& k = message.key;
  const Key key{k.instance, from.value, k.peer.value, k.lane.value, k.segment, k.ordinal, k.signal};
  const std::lock_guard lock(mutex_);
  const auto partner = receives_.find(key);
  if (partner == receives_.end()) {
    sends_.emplace(key, &message);
    return;
  }
  match(key, message, *partner->second);
  receives_.erase(partner);
}

void Switchboard::post(Rank to, ReceiveRequest& message) {
  const MessageKey& k = message.key;
  const Key key{k.instance, k.peer.value, to.value, k.lane.value, k.segment, k.ordinal, k.signal};
  const std::lock_guard lock(mutex_);
  const auto partner = sends_.find(key);
  if (partner == sends_.end()) {
    receives_.emplace(key, &message);
    return;
  }
  match(key, *partner->second, message);
  sends_.erase(partner);
}

void Switchboard::match(const Key& key, SendRequest& sending, ReceiveRequest& receiving) {
  if (sending.bytes != receiving.bytes)
    return fail_locked(failed(fmt::format("rank {}: {} must be as long as its partner, {} bytes", key.to,
                                          describe(receiving.key, false), sending.bytes),
                              fmt::format("it has {} bytes", receiving.bytes), "correct the schedule or the counts"));
  Station& receiver = stations_[static_cast<std::size_t>(key.to)];
  receiver.events.matches.push_back({&sending, &receiving, Rank{key.from}});
  call(receiver);
}

void Switchboard::report_taken(const Match& match) {
  const std::lock_guard lock(mutex_);
  Station& sender = stations_[static_cast<std::size_t>(match.sender.value)];
  sender.events.taken.push_back(match.sending);
  call(sender);
}

// --- offload ---------------------------------------------------------------------------------------------------------

void Switchboard::set_participants(LaneId lane, std::vector<Rank> ranks) {
  const std::lock_guard lock(mutex_);
  participants_[lane] = {ranks.begin(), ranks.end()};
}

void Switchboard::post(Rank rank, OffloadRequest& message) {
  const OffloadKey key{message.key.instance, message.key.lane.value, message.key.segment, message.key.ordinal};
  const std::lock_guard lock(mutex_);
  auto& present = offloads_[key];
  present[rank] = &message;
  if (present.size() < participants_[message.key.lane].size()) return;
  combine(key);
  offloads_.erase(key);
}

// All have come: their sources in ascending order of rank, or the root's alone.
void Switchboard::combine(const OffloadKey& key) {
  const auto& present = offloads_[key];
  const OffloadRequest& any = *present.begin()->second;
  const auto bytes = static_cast<std::size_t>(any.bytes);
  auto result = std::make_shared<std::vector<std::byte>>(bytes);
  bool first = true;
  for (const auto& [rank, message] : present) {
    if (message->bytes != any.bytes)
      return fail_locked(failed(fmt::format("all ranks must offload {} bytes on lane {}", any.bytes, key.lane),
                                fmt::format("rank {} offloads {}", rank.value, message->bytes)));
    if (!message->source || (any.root.value >= 0 && rank != any.root)) continue;
    if (first)
      std::memcpy(result->data(), message->source, bytes);
    else
      any.reduction(result->data(), message->source, result->data(), any.bytes / any.element_bytes);
    first = false;
  }
  for (const auto& [rank, message] : present) {
    Station& station = stations_[static_cast<std::size_t>(rank.value)];
    station.events.combined.push_back({message, result});
    call(station);
  }
}

// --- remote memory ---------------------------------------------------------------------------------------------------

MemoryKey Switchboard::register_memory(Rank owner, std::byte* data, std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  regions_[++last_key_] = {owner, data, bytes};
  return {last_key_};
}

void Switchboard::deregister_memory(Rank owner, MemoryKey key) {
  const std::lock_guard lock(mutex_);
  const auto region = regions_.find(key.value);
  if (region != regions_.end() && region->second.owner == owner) regions_.erase(region);
}

void Switchboard::grant(Rank receiver, Rank sender, std::int32_t channel, MemoryKey key, std::int64_t slots) {
  const std::lock_guard lock(mutex_);
  Credits& credits = channels_[{sender, receiver, channel}].credits;
  credits.key = key;
  credits.slots += slots;
  notify(sender);
}

Credits Switchboard::credits(Rank sender, Rank receiver, std::int32_t channel) {
  const std::lock_guard lock(mutex_);
  return channels_[{sender, receiver, channel}].credits;
}

std::int64_t Switchboard::flags(Rank receiver, Rank sender, std::int32_t channel) {
  const std::lock_guard lock(mutex_);
  return channels_[{sender, receiver, channel}].flags;
}

bool Switchboard::write(Rank sender, const PutRequest& put) {
  const std::lock_guard lock(mutex_);
  if (failure_) return false;
  Channel& channel = channels_[{sender, put.target, put.channel}];
  channel.starved_slot.reset();
  if (put.slot >= channel.credits.slots) return channel.starved_slot = put.slot, false;
  if (put.bytes == 0) return true;
  const std::string what = fmt::format("a put of rank {} into the memory of rank {}", sender.value, put.target.value);
  const auto found = regions_.find(put.key.value);
  if (found == regions_.end() || found->second.owner != put.target)
    return fail_locked(
               failed(what + " needs the key of registered memory", fmt::format("it has key {}", put.key.value))),
           false;
  const Region& region = found->second;
  if (put.offset < 0 || put.bytes < 0 || put.bytes > region.bytes || put.offset > region.bytes - put.bytes)
    return fail_locked(failed(fmt::format("{} must stay within its {} bytes", what, region.bytes),
                              fmt::format("it writes {} bytes from byte {} on", put.bytes, put.offset))),
           false;
  std::memcpy(region.data + put.offset, put.data, static_cast<std::size_t>(put.bytes));
  return true;
}

void Switchboard::raise_flag(Rank sender, const PutRequest& put) {
  const std::lock_guard lock(mutex_);
  ++channels_[{sender, put.target, put.channel}].flags;
  notify(put.target);
}

void Switchboard::notify(Rank rank) {
  Station& station = stations_[static_cast<std::size_t>(rank.value)];
  station.notified = true;
  call(station);
}

// --- waiting ---------------------------------------------------------------------------------------------------------

void Switchboard::call(Station& station) {
  station.waiting = false;
  station.called.notify_one();
}

Events Switchboard::collect(Rank rank) {
  const std::lock_guard lock(mutex_);
  Events events;
  if (!failure_) std::swap(events, stations_[static_cast<std::size_t>(rank.value)].events);
  return events;
}

void Switchboard::wait(Rank rank) {
  std::unique_lock lock(mutex_);
  Station& me = stations_[static_cast<std::size_t>(rank.value)];
  if (failure_ || !me.events.empty() || std::exchange(me.notified, false)) return;
  me.waiting = true;
  if (nobody_moves()) return fail_locked(failed("the schedule deadlocks", who_waits()));
  if (by_turns_) return;
  const bool in_time = me.called.wait_until(lock, deadline_, [&] { return !me.waiting || failure_; });
  me.waiting = me.notified = false;
  if (!in_time) fail_locked(failed("the schedule did not end before the timeout", who_waits()));
}

bool Switchboard::nobody_moves() const {
  return std::all_of(stations_.begin(), stations_.end(),
                     [](const Station& s) { return s.left || (s.waiting && s.events.empty() && !s.notified); });
}

std::string Switchboard::who_waits() const {
  constexpr std::size_t most = 6;
  std::vector<std::string> names;
  for (const auto& [key, message] : sends_)
    names.push_back(fmt::format("rank {} waits in {}", key.from, describe(message->key, true)));
  for (const auto& [key, message] : receives_)
    names.push_back(fmt::format("rank {} waits in {}", key.to, describe(message->key, false)));
  for (const auto& [key, present] : offloads_)
    names.push_back(fmt::format("{} ranks wait in offload {} of lane {}, segment {}", present.size(), key.ordinal,
                                key.lane, key.segment));
  for (const auto& [key, channel] : channels_)
    if (channel.starved_slot)
      names.push_back(fmt::format("rank {} waits for the credit of slot {} of channel {} to rank {}", key.sender.value,
                                  *channel.starved_slot, key.number, key.receiver.value));
  if (names.empty()) return "no message is open: lanes wait for each other";
  std::sort(names.begin(), names.end());
  const std::size_t more = names.size() - std::min(names.size(), most);
  names.resize(names.size() - more);
  return fmt::format("{}{}", fmt::join(names, ", "), more ? fmt::format(" and {} more", more) : "");
}

void Switchboard::leave(Rank rank) {
  const std::lock_guard lock(mutex_);
  stations_[static_cast<std::size_t>(rank.value)].left = true;
  const bool all = std::all_of(stations_.begin(), stations_.end(), [](const Station& s) { return s.left; });
  if (!all && nobody_moves()) fail_locked(failed("the schedule deadlocks", who_waits()));
  if (all && !failure_ && !(sends_.empty() && receives_.empty() && offloads_.empty()))
    fail_locked(failed("messages are left over", who_waits()));
}

void Switchboard::fail(const Error& error) {
  const std::lock_guard lock(mutex_);
  fail_locked(error);
}

void Switchboard::fail_locked(const Error& error) {
  if (!failure_) failure_ = error;
  for (Station& s : stations_) call(s);
}

std::optional<Error> Switchboard::failure() {
  const std::lock_guard lock(mutex_);
  return failure_;
}

} // namespace kumihimo::transport
