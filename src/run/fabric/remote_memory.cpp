#include "fabric/remote_memory.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstring>

namespace kumihimo::fabric {
namespace {

using transport::Credits, transport::MemoryKey, transport::PutRequest;

constexpr int bits_of_own_keys = 40; // a key is the rank and its own number: no two ranks have the same
constexpr std::int32_t turns_that_spin = 50;

} // namespace

FabricRemoteMemory::FabricRemoteMemory(std::shared_ptr<FabricPort> port, FabricRanks ranks)
    : port_(std::move(port)), ranks_(std::move(ranks)) {
  const std::lock_guard lock(port_->mutex());
  attached_ = port_->attach(*this, ranks_.network);
}

FabricRemoteMemory::~FabricRemoteMemory() {
  const std::lock_guard lock(port_->mutex());
  for (auto& [key, region] : own_) port_->registrations().release(region.range, false);
  port_->detach(*this);
}

bool FabricRemoteMemory::drained() {
  const std::lock_guard lock(port_->mutex());
  // Without its number, which another network of this rank has, it has sent nothing, and the port does not know it.
  if (attached_) port_->progress(*this);
  return port_->under_way(*this) == 0;
}

void FabricRemoteMemory::refuse_messages() { fail(failed("this transport has remote memory and no messages")); }

Result<PeerId> FabricRemoteMemory::peer_of(Rank rank) {
  if (const auto known = peers_.find(rank.value); known != peers_.end()) return known->second;
  const PeerId id = TRY(port_->meet(ranks_.card(rank.value)));
  peers_.emplace(rank.value, id);
  return id;
}

// --- registered memory and grants

Result<MemoryKey> FabricRemoteMemory::register_memory(std::byte* data, std::int64_t bytes) {
  const std::lock_guard lock(port_->mutex());
  Region region;
  region.data = data;
  region.bytes = bytes;
  region.range = TRY(port_->registrations().use(data, bytes));
  region.address = port_->registrations().remote_address(*region.range, data);
  for (std::size_t engine = 0; engine < port_->engines(); ++engine)
    region.of_engine.push_back(fi_mr_key(region.range->at(engine)));
  const MemoryKey key{static_cast<std::uint64_t>(ranks_.rank) << bits_of_own_keys | ++last_key_};
  own_.emplace(key.value, std::move(region));
  return key;
}

void FabricRemoteMemory::deregister_memory(MemoryKey key) {
  const std::lock_guard lock(port_->mutex());
  const auto found = own_.find(key.value);
  if (found == own_.end()) return;
  port_->registrations().release(found->second.range, false);
  own_.erase(found);
}

void FabricRemoteMemory::grant(Rank sender, std::int32_t channel, MemoryKey key, std::int64_t slots) {
  const std::lock_guard lock(port_->mutex());
  if (error_) return;
  if (sender.value == ranks_.rank) {
    Channel& own = channel_of(outgoing_, sender, channel);
    own.credits = {key, own.credits.slots + slots};
    advance(sender, channel, own);
    return;
  }
  Channel& from = channel_of(incoming_, sender, channel);
  if (!from.number) from.number = port_->take_number(*this, &from);
  Granted granted;
  granted.key = key.value;
  granted.slots = slots;
  granted.channel = channel;
  granted.number = from.number ? *from.number : UINT32_MAX;
  if (const auto found = own_.find(key.value); found != own_.end()) {
    granted.address = found->second.address;
    granted.bytes = found->second.bytes;
    std::copy(found->second.of_engine.begin(), found->second.of_engine.end(), granted.of_engine);
  }
  send_message(sender, engine_of(channel), WireKind::grant, &granted, sizeof granted, nullptr);
}

std::int64_t FabricRemoteMemory::flags(Rank sender, std::int32_t channel) {
  const auto found = incoming_.find({sender.value, channel});
  return found == incoming_.end() ? 0 : found->second.flags;
}

Credits FabricRemoteMemory::credits(Rank receiver, std::int32_t channel) {
  const auto found = outgoing_.find({receiver.value, channel});
  return found == outgoing_.end() ? Credits{} : found->second.credits;
}

// --- puts

void FabricRemoteMemory::put(PutRequest& request) {
  const std::lock_guard lock(port_->mutex());
  if (error_) return;
  Channel& channel = channel_of(outgoing_, request.target, request.channel);
  channel.queue.push_back(&request);
  advance(request.target, request.channel, channel);
}

bool FabricRemoteMemory::advance(Rank target, std::int32_t number, Channel& channel) {
  bool moved = false;
  while (!channel.queue.empty() && !error_) {
    PutRequest& request = *channel.queue.front();
    if (request.slot >= channel.credits.slots) break; // waits for its credit
    if (!issue(target, number, channel, request)) break;
    moved = true;
  }
  return moved;
}

// False: it waits until what was started before is delivered.
bool FabricRemoteMemory::issue(Rank target, std::int32_t number, Channel& channel, PutRequest& request) {
  if (target.value == ranks_.rank) return channel.queue.pop_front(), put_locally(request), true;
  const ProviderRules& rules = port_->rules();
  if (channel.undelivered > 0) return false;
  if (request.bytes == 0) { // a flag alone, or nothing
    channel.queue.pop_front();
    Issued& issued = issued_.emplace_back(Issued{&request, &channel, false, false, target, number});
    if (request.flag) return send_flag(target, number, &issued), true;
    completed(&issued);
    return true;
  }
  const auto found = described_.find({target.value, request.key.value});
  if (found == described_.end() || found->second.bytes < 0) return refuse(target, "no such memory is registered"), true;
  const Region& region = found->second;
  if (request.offset < 0 || request.offset > region.bytes || request.bytes > region.bytes - request.offset)
    return refuse(target,
                  fmt::format("bytes {} to {} of {}", request.offset, request.offset + request.bytes, region.bytes)),
           true;
  channel.queue.pop_front();
  const bool ordered = static_cast<std::uint64_t>(request.bytes) <= rules.ordered_bytes && rules.sends_after_puts;
  // The data of an unordered put may overtake what was put before, where that was taken as ordered.
  const bool flags_itself = request.flag && rules.puts_carry_data && channel.their_number.has_value() &&
                            (ordered || rules.ordered_bytes == 0);
  FabricPort::Put put;
  put.peer = *peer_of(target);
  put.engine = engine_of(number);
  put.data = request.data;
  put.bytes = request.bytes;
  put.address = region.address + static_cast<std::uint64_t>(request.offset);
  put.key = region.of_engine[put.engine];
  put.delivered = !ordered;
  if (flags_itself) put.flag = FlagData{*channel.their_number, 0, false};
  if (rules.registers_sources) {
    Result<RegisteredRange*> source = port_->registrations().use(request.data, request.bytes);
    if (!source) return fail(source.error()), true;
    put.source = *source;
  }
  const bool flag_follows = request.flag && !flags_itself;
  Issued& issued = issued_.emplace_back(Issued{&request, &channel, !ordered, flag_follows && !ordered, target, number});
  issued.source = put.source;
  channel.undelivered += !ordered;
  port_->put(*this, put, &issued);
  if (flag_follows && ordered) send_flag(target, number, nullptr);
  return true;
}

void FabricRemoteMemory::put_locally(PutRequest& request) {
  const auto found = own_.find(request.key.value);
  if (request.bytes > 0) {
    if (found == own_.end() || request.offset < 0 || request.offset + request.bytes > found->second.bytes)
      return refuse(Rank{ranks_.rank}, "no such memory is registered");
    std::memcpy(found->second.data + request.offset, request.data, static_cast<std::size_t>(request.bytes));
  }
  if (request.flag) ++channel_of(incoming_, request.target, request.channel).flags;
  request.complete();
}

void FabricRemoteMemory::completed(void* operation) {
  if (error_) return;
  auto& issued = *static_cast<Issued*>(operation);
  if (issued.flag_follows) { // delivered: now its flag; the request completes with that
    issued.flag_follows = false;
    return send_flag(issued.target, issued.number, &issued);
  }
  Channel& channel = *issued.channel;
  const Rank target = issued.target;
  const std::int32_t number = issued.number;
  channel.undelivered -= issued.counts;
  if (issued.source) port_->registrations().release(issued.source);
  issued.request->complete();
  issued_.remove_if([&](const Issued& each) { return &each == &issued; });
  advance(target, number, channel);
}

void FabricRemoteMemory::send_message(Rank target, std::size_t engine, WireKind kind, const void* data,
                                      std::int64_t bytes, void* token) {
  const Result<PeerId> peer = peer_of(target);
  if (!peer) return fail(peer.error());
  WireHeader header;
  header.kind = kind;
  header.network = ranks_.network;
  header.source = static_cast<std::uint32_t>(ranks_.rank);
  const transport::Piece piece{static_cast<std::byte*>(const_cast<void*>(data)), bytes};
  port_->send(*this, *peer, engine, header, std::span(&piece, bytes > 0 ? 1 : 0), token);
}

void FabricRemoteMemory::send_flag(Rank target, std::int32_t channel, void* token) {
  send_message(target, engine_of(channel), WireKind::flag, &channel, sizeof channel, token);
}

// The network reports such a put after the call, if at all; so both ranks are told.
void FabricRemoteMemory::refuse(Rank target, const std::string& why) {
  const Error error = failed(fmt::format("a put outside the registered memory of rank {}", target.value), why,
                             "register the memory, and grant its key to the sender");
  if (target.value != ranks_.rank) {
    const std::string text = error.problem;
    send_message(target, 0, WireKind::fail, text.data(), static_cast<std::int64_t>(text.size()), nullptr);
  }
  fail(error);
}

// --- what other ranks send

void FabricRemoteMemory::arrived(const WireHeader& header, const std::byte* data, std::int64_t bytes) {
  if (error_) return;
  const Rank source{static_cast<std::int32_t>(header.source)};
  switch (header.kind) {
  case WireKind::grant: {
    Granted granted;
    std::memcpy(&granted, data, sizeof granted);
    Channel& channel = channel_of(outgoing_, source, granted.channel);
    if (granted.number <= UINT16_MAX) channel.their_number = static_cast<std::uint16_t>(granted.number);
    channel.credits = {MemoryKey{granted.key}, channel.credits.slots + granted.slots};
    Region& region = described_[{source.value, granted.key}];
    region.bytes = granted.bytes;
    region.address = granted.address;
    region.of_engine.assign(std::begin(granted.of_engine), std::end(granted.of_engine));
    advance(source, granted.channel, channel);
    return;
  }
  case WireKind::flag: {
    std::int32_t channel = 0;
    std::memcpy(&channel, data, sizeof channel);
    ++channel_of(incoming_, source, channel).flags;
    return;
  }
  case WireKind::fail:
    return fail(failed(std::string(reinterpret_cast<const char*>(data), static_cast<std::size_t>(bytes)), {},
                       fmt::format("see what rank {} does", source.value)));
  default: return;
  }
}

void FabricRemoteMemory::flagged(void* of_number, FlagData) { ++static_cast<Channel*>(of_number)->flags; }

// --- progress and failures

transport::Transport::Progress FabricRemoteMemory::progress() {
  const std::lock_guard lock(port_->mutex());
  const bool moved = attached_ && port_->progress(*this); // after a failure too: the others are told
  if (!error_ && port_->failures() != failures_seen_) look_at_failures();
  if (error_) return Progress::failed;
  if (moved) turns_ = 0;
  return moved ? Progress::moved : Progress::nothing;
}

void FabricRemoteMemory::idle() {
  if (turns_ < turns_that_spin)
    ++turns_;
  else
    sched_yield();
}

void FabricRemoteMemory::look_at_failures() {
  failures_seen_ = port_->failures();
  for (const auto& [rank, peer] : peers_)
    if (const std::string& text = port_->failure(peer); !text.empty())
      return fail(failed(fmt::format("the memory of rank {} cannot be reached over {}", rank, port_->provider()), text,
                         "check that it still runs, and the links to its node"));
  if (!port_->failure().empty())
    fail(failed(fmt::format("the provider {} failed", port_->provider()), port_->failure()));
}

void FabricRemoteMemory::fail(Error error) {
  if (!error_) error_ = std::move(error);
}

} // namespace kumihimo::fabric
