#include "fabric/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace kumihimo::fabric {
namespace {

constexpr std::chrono::milliseconds time_until_announced{2};
constexpr std::chrono::milliseconds time_between_looks{250};
constexpr std::chrono::milliseconds time_between_pings{1000};
constexpr std::int64_t turns_between_clocks = 64; // without movement

} // namespace

FabricMessages::FabricMessages(std::shared_ptr<FabricPort> port, FabricRanks ranks)
    : port_(std::move(port)), ranks_(std::move(ranks)) {
  const std::lock_guard lock(port_->mutex());
  attached_ = port_->attach(*this, ranks_.network);
}

FabricMessages::~FabricMessages() {
  const std::lock_guard lock(port_->mutex());
  for (const auto& [key, message] : unexpected_) empty_slot(message);
  for (Receiving& receiving : receives_) release(receiving.own);
  for (auto& [list, landings] : landings_)
    for (Landing& landing : landings) {
      const bool is_under_way = landing.list->open > 0;
      if (landing.range) port_->registrations().release(landing.range, false);
      if (is_under_way) landing.buffer.leak();
      if (!is_under_way) port_->give_number(landing.number);
    }
  port_->keep(-buffer_bytes_);
  port_->detach(*this);
}

Status FabricMessages::accepts(const transport::Demands& demands) {
  constexpr std::int64_t most_lanes = 1 << 16, most = std::int64_t{1} << 31;
  if (demands.lanes <= most_lanes && demands.window <= most && demands.spread < most) return Nothing{};
  return failed(fmt::format("the network fabric has at most {} lanes, {} segments in flight and {} messages of each",
                            most_lanes, most, most),
                fmt::format("{}, {} and {}", demands.lanes, demands.window, demands.spread + 1), "use the network mpi");
}

// --- peers

FabricMessages::Peer* FabricMessages::peer_of(std::int32_t rank) {
  const auto known = peers_.find(rank);
  if (known != peers_.end()) return &known->second;
  const Result<PeerId> id = port_->meet(ranks_.card(rank));
  if (!id) return fail(id.error()), nullptr;
  Peer& peer = peers_[rank];
  peer.id = *id;
  return &peer;
}

// Both ends compute it. The two directions between two ranks use different engines, and so different connections.
std::size_t FabricMessages::engine_of(const WireKey& key, std::int32_t sender, std::int32_t receiver) const {
  return (static_cast<std::size_t>(key.lane) * 2 + (sender < receiver ? 1 : 0)) % port_->engines();
}

WireHeader FabricMessages::header_of(WireKind kind, const WireKey& key) const {
  WireHeader header;
  header.kind = kind;
  write_key(key, header);
  header.network = ranks_.network;
  header.source = static_cast<std::uint32_t>(ranks_.rank);
  return header;
}

void FabricMessages::post(std::int32_t rank, const WireHeader& header, std::span<const transport::Piece> data,
                          void* operation, const WireKey& key, bool from_sender, bool stays) {
  const std::size_t engine = from_sender ? engine_of(key, ranks_.rank, rank) : engine_of(key, rank, ranks_.rank);
  port_->send(*this, peers_.at(rank).id, engine, header, data, operation, stays);
}

// --- sender

void FabricMessages::send(transport::SendRequest& message) {
  if (error_) return;
  const std::lock_guard lock(port_->mutex());
  const WireKey key = wire_key(message.key);
  Peer* const peer = peer_of(key.peer);
  if (!peer) return;
  if (port_->has_lost(peer->id)) return lose(key.peer);
  Sending& sending = sends_.emplace_back();
  sending.self = std::prev(sends_.end());
  sending.message = &message;
  sending.key = key;
  const bool is_short = message.bytes <= eager_bytes();
  if (is_short)
    if (const std::optional<ChannelEpoch> slot = port_->short_messages().take_slot(peer->id, message.bytes))
      return send_eager(sending, *peer, *slot);
  if (const std::optional<WirePlace> place = opened_.take(key)) return put(sending, *place);
  if (const auto ready = ready_.find(key); ready != ready_.end()) {
    const WirePlace place = ready->second;
    ready_.erase(ready);
    return put(sending, place);
  }
  sending.is_waiting = true;
  sending.since = Clock::now();
  waiting_sends_.emplace(key, &sending);
  if (is_short) announce(sending); // the receiver expects it eager
}

// The slot waits for it: it is sent whatever happens to this communicator.
void FabricMessages::send_eager(Sending& sending, Peer& peer, ChannelEpoch slot) {
  WireHeader header = header_of(WireKind::eager, sending.key);
  port_->short_messages().write_slot(peer.id, slot, header);
  header.bytes = static_cast<std::uint64_t>(sending.message->bytes);
  sending.open = 1;
  const auto pieces = sending.message->bytes > 0 ? sending.message->pieces() : std::span<const transport::Piece>();
  post(sending.key.peer, header, pieces, &sending, sending.key, true, true);
}

void FabricMessages::announce(Sending& sending) {
  sending.announced = true;
  WireHeader header = header_of(WireKind::announce, sending.key);
  header.bytes = static_cast<std::uint64_t>(sending.message->bytes);
  post(sending.key.peer, header, {}, nullptr, sending.key, true);
}

void FabricMessages::announce_late_ones() {
  const Clock::time_point now = Clock::now();
  for (Sending& sending : sends_)
    if (sending.is_waiting && !sending.announced && now - sending.since > time_until_announced) announce(sending);
}

// The receiver has said where. If it expects another length, it is told ours, and this rank's part is over.
void FabricMessages::put(Sending& sending, const WirePlace& place) {
  transport::SendRequest& message = *sending.message;
  if (std::exchange(sending.is_waiting, false)) waiting_sends_.erase(sending.key);
  if (static_cast<std::int64_t>(place.bytes) != message.bytes) {
    announce(sending);
    return complete(sending);
  }
  sending.number = place.number;
  if (message.bytes == 0) return flag_by_message(sending, 0); // a signal beyond the eager ones
  const std::byte* data = message.only.data;
  if (message.pieces().size() > 1) {
    sending.packed = execute::ScratchMemory(message.bytes);
    std::byte* to = sending.packed.data();
    for (const transport::Piece& piece : message.pieces()) {
      std::memcpy(to, piece.data, static_cast<std::size_t>(piece.bytes));
      to += piece.bytes;
    }
    data = sending.packed.data();
  }
  if (port_->rules().registers_sources) {
    Result<RegisteredRange*> source = port_->registrations().use(data, message.bytes);
    if (!source) return fail(source.error());
    sending.source = *source;
  }
  put_chunks(sending, data, place);
}

// Each with its flag: data of the put, or a message behind it. Where neither orders a message behind puts, the flags
// are sent when all puts have been delivered.
void FabricMessages::put_chunks(Sending& sending, const std::byte* data, const WirePlace& place) {
  const ProviderRules& rules = port_->rules();
  const std::int64_t bytes = sending.message->bytes, each = place.chunk_bytes;
  const bool follows = !rules.puts_carry_data && rules.sends_after_puts;
  FabricPort::Put chunk;
  chunk.peer = peers_.at(sending.key.peer).id;
  chunk.engine = engine_of(sending.key, ranks_.rank, sending.key.peer);
  chunk.source = sending.source;
  chunk.key = place.key;
  chunk.delivered = !rules.puts_carry_data && !follows;
  sending.flags_by_messages = chunk.delivered;
  sending.chunks = static_cast<std::int32_t>((bytes + each - 1) / each);
  sending.open += sending.chunks;
  for (std::int32_t at = 0; at < sending.chunks; ++at) {
    const std::int64_t first = at * each;
    chunk.data = data + first;
    chunk.bytes = std::min(each, bytes - first);
    chunk.address = place.address + static_cast<std::uint64_t>(first);
    if (rules.puts_carry_data) chunk.flag = FlagData{place.number, static_cast<std::uint16_t>(at), sending.announced};
    port_->put(*this, chunk, &sending);
    if (follows) flag_by_message(sending, at);
  }
}

void FabricMessages::flag_by_message(Sending& sending, std::int32_t chunk) {
  WireHeader header = header_of(WireKind::done, sending.key);
  header.number = sending.number;
  header.spare = FlagData{sending.number, static_cast<std::uint16_t>(chunk), sending.announced}.word();
  ++sending.open;
  post(sending.key.peer, header, {}, &sending, sending.key, true);
}

// An operation completes when the provider has taken its bytes, or has delivered them if that was asked for.
void FabricMessages::completed(void* operation) {
  message_moved_ = true;
  if (error_) return;
  Sending& sending = *static_cast<Sending*>(operation);
  if (--sending.open > 0) return;
  if (!std::exchange(sending.flags_by_messages, false)) return complete(sending);
  for (std::int32_t chunk = 0; chunk < sending.chunks; ++chunk) flag_by_message(sending, chunk);
}

void FabricMessages::complete(Sending& sending) {
  if (sending.source) port_->registrations().release(sending.source);
  sending.message->complete();
  sends_.erase(sending.self);
}

// --- receiver

void FabricMessages::receive(transport::ReceiveRequest& message) {
  if (error_) return;
  const std::lock_guard lock(port_->mutex());
  const WireKey key = wire_key(message.key);
  const Peer* const peer = peer_of(key.peer);
  if (!peer) return;
  const auto here = unexpected_.find(key);
  const bool came_whole = here != unexpected_.end() && !here->second.announced; // before its sender was lost
  if (!came_whole && port_->has_lost(peer->id)) return lose(key.peer);
  Receiving& receiving = receives_.emplace_back();
  receiving.self = std::prev(receives_.end());
  receiving.message = &message;
  receiving.key = key;
  expected_.emplace(key, &receiving);
  if (const auto told = early_.find(key); told != early_.end()) {
    receiving.landing = told->second;
    early_.erase(told);
  }
  if (const auto found = unexpected_.find(key); found != unexpected_.end()) {
    const Unexpected early = found->second;
    unexpected_.erase(found);
    const bool fits = early.bytes == message.bytes && early.bytes % message.element_bytes() == 0;
    if (fits && early.bytes > 0 && !early.announced) message.take(early.slot, early.bytes);
    empty_slot(early);
    if (early.bytes != message.bytes) return refuse(receiving, early.bytes, early.announced);
    if (!early.announced) return fits ? finish(receiving) : fail(transport::wrong_elements(message, early.bytes));
    receiving.saw_announcement = true;
    if (!receiving.landing) return make_ready(receiving);
  }
  if (receiving.landing) return attach(receiving, *receiving.landing);
  if (message.bytes > eager_bytes()) make_ready(receiving);
}

// Tells the sender where the bytes go: into the program's buffer, or a buffer from which they are reduced or scattered.
void FabricMessages::make_ready(Receiving& receiving) {
  transport::ReceiveRequest& message = *receiving.message;
  Landing& landing = receiving.own;
  landing.receiving = &receiving;
  receiving.landing = &landing;
  const std::optional<std::uint16_t> number = port_->take_number(*this, &landing);
  if (!number) return fail(failed("the network fabric has too many messages under way", {}, "use a smaller window"));
  landing.number = *number;
  WireHeader header = header_of(WireKind::ready, receiving.key);
  header.number = *number;
  header.bytes = static_cast<std::uint64_t>(message.bytes);
  if (message.bytes > 0) {
    std::byte* const direct = message.direct();
    if (!direct && message.bytes % message.element_bytes() != 0)
      return fail(transport::wrong_elements(message, message.bytes));
    const Result<WirePlace> place =
        prepare(landing, direct, message.bytes, direct ? 1 : message.element_bytes(), receiving.key);
    if (!place) return fail(place.error());
    header.address = place->address;
    header.key = place->key;
    header.chunk_bytes = place->chunk_bytes;
  }
  post(receiving.key.peer, header, {}, nullptr, receiving.key, false);
}

// Memory for a message: `target`, or a buffer if that is null. The landing has its number.
Result<WirePlace> FabricMessages::prepare(Landing& landing, std::byte* target, std::int64_t bytes,
                                          std::int64_t element_bytes, const WireKey& key) {
  const std::int64_t least = (bytes + FlagData::most_chunks - 1) / FlagData::most_chunks;
  landing.chunk = std::max(chunk_bytes, least);
  landing.chunk = (landing.chunk + element_bytes - 1) / element_bytes * element_bytes;
  landing.chunks = landing.left = (bytes + landing.chunk - 1) / landing.chunk;
  landing.arrived.assign(static_cast<std::size_t>(landing.chunks), false);
  if (!target) {
    landing.buffer = execute::ScratchMemory(bytes);
    target = landing.buffer.data();
  }
  landing.target = target;
  landing.range = TRY(port_->registrations().use(target, bytes));
  WirePlace place;
  place.bytes = static_cast<std::uint64_t>(bytes);
  place.address = port_->registrations().remote_address(*landing.range, target);
  place.key = fi_mr_key(landing.range->at(engine_of(key, key.peer, ranks_.rank)));
  place.chunk_bytes = static_cast<std::uint32_t>(std::min<std::int64_t>(landing.chunk, UINT32_MAX));
  place.ordinal = key.ordinal;
  place.segment = key.segment;
  place.lane = key.lane;
  place.number = landing.number;
  return place;
}

void FabricMessages::flagged(void* of_number, FlagData flag) {
  message_moved_ = true;
  if (!error_) land(*static_cast<Landing*>(of_number), flag);
}

void FabricMessages::land(Landing& landing, FlagData flag) {
  --landing.left;
  if (landing.buffer.exists()) landing.arrived[flag.chunk] = true;
  landing.was_announced |= flag.announced;
  if (landing.receiving) deliver(*landing.receiving);
}

// What has come of a message, in order.
void FabricMessages::deliver(Receiving& receiving) {
  transport::ReceiveRequest& message = *receiving.message;
  Landing& landing = *receiving.landing;
  if (landing.buffer.exists())
    for (; landing.delivered < landing.chunks && landing.arrived[static_cast<std::size_t>(landing.delivered)];
         ++landing.delivered) {
      const std::int64_t first = landing.delivered * landing.chunk;
      message.take(landing.target + first, std::min(landing.chunk, message.bytes - first));
    }
  if (landing.left > 0) return;
  if (landing.was_announced && !receiving.saw_announcement) stray_.insert(receiving.key);
  finish(receiving);
}

void FabricMessages::finish(Receiving& receiving) {
  expected_.erase(receiving.key);
  Landing* const landing = receiving.landing;
  if (landing && landing->list) {
    landing->receiving = nullptr;
    PlaceLists::take(*landing->list);
    if (landing->list->open == 0 && forgets_at_once()) drop(*landing->list);
  } else if (landing) {
    port_->give_number(landing->number);
    if (landing->range) port_->registrations().release(landing->range);
  }
  receiving.message->complete();
  receives_.erase(receiving.self);
}

// A message of another length. This rank alone has the error; a sender that waits learns our length, and goes on.
void FabricMessages::refuse(Receiving& receiving, std::int64_t bytes, bool sender_waits) {
  const transport::ReceiveRequest& message = *receiving.message;
  if (sender_waits && !receiving.landing) {
    WireHeader header = header_of(WireKind::ready, receiving.key);
    header.bytes = static_cast<std::uint64_t>(message.bytes);
    post(receiving.key.peer, header, {}, nullptr, receiving.key, false, true);
  }
  fail(transport::wrong_length(message, bytes));
}

void FabricMessages::empty_slot(const Unexpected& message) {
  if (!message.announced) port_->short_messages().empty(message.sender, message.epoch, message.slot);
}

// --- what other ranks send

void FabricMessages::arrived(const WireHeader& header, const std::byte* data, std::int64_t bytes) {
  message_moved_ = true;
  const auto source = static_cast<std::int32_t>(header.source);
  if (source < 0 || source >= ranks_.ranks()) return;
  Peer* const peer = peer_of(source);
  if (!peer) return;
  if (error_) { // its slot is free for other communicators
    if (header.kind == WireKind::eager) port_->short_messages().empty(peer->id, header.number, nullptr);
    return;
  }
  const WireKey key = wire_key(header);
  switch (header.kind) {
  case WireKind::eager: return take_eager(header, *peer, {data, static_cast<std::size_t>(bytes)});
  case WireKind::announce: return take_announcement(header);
  case WireKind::ready: return take_ready(header);
  case WireKind::done:
    if (const auto early = early_.find(key); early != early_.end())
      return land(*early->second, FlagData::of(header.spare));
    if (const auto found = expected_.find(key); found != expected_.end() && found->second->landing)
      land(*found->second->landing, FlagData::of(header.spare));
    return;
  case WireKind::open: return take_opening(header, data, bytes);
  case WireKind::forget: return opened_.forget(source, header.address);
  default: return;
  }
}

void FabricMessages::take_ready(const WireHeader& header) {
  const WireKey key = wire_key(header);
  WirePlace place;
  place.bytes = header.bytes;
  place.address = header.address;
  place.key = header.key;
  place.chunk_bytes = header.chunk_bytes;
  place.number = header.number;
  if (const auto found = waiting_sends_.find(key); found != waiting_sends_.end()) return put(*found->second, place);
  ready_.emplace(key, place);
}

void FabricMessages::take_eager(const WireHeader& header, Peer& peer, std::span<const std::byte> data) {
  const WireKey key = wire_key(header);
  const std::int64_t bytes = std::ssize(data);
  const auto found = expected_.find(key);
  if (found == expected_.end()) {
    const std::byte* const slot = port_->short_messages().keep(peer.id, header, data);
    if (!slot)
      return fail(failed(fmt::format("a message of rank {} must fit a slot of its channel", key.peer),
                         fmt::format("{} bytes and none", bytes), "use the network mpi"));
    unexpected_[key] = {false, bytes, peer.id, header.number, slot};
    return;
  }
  Receiving& receiving = *found->second;
  transport::ReceiveRequest& message = *receiving.message;
  const bool fits = message.bytes == bytes && bytes % message.element_bytes() == 0;
  if (fits && bytes > 0) message.take(data.data(), bytes);
  port_->short_messages().empty(peer.id, header.number, nullptr);
  if (message.bytes != bytes) return refuse(receiving, bytes, false);
  fits ? finish(receiving) : fail(transport::wrong_elements(message, bytes));
}

void FabricMessages::take_announcement(const WireHeader& header) {
  const WireKey key = wire_key(header);
  const auto bytes = static_cast<std::int64_t>(header.bytes);
  if (bytes <= eager_bytes()) port_->short_messages().hear(peers_.at(key.peer).id); // it had no slot
  if (stray_.erase(key) > 0) return;                                                // its message is here already
  const auto found = expected_.find(key);
  if (found == expected_.end()) {
    unexpected_[key].announced = true;
    unexpected_[key].bytes = bytes;
    return;
  }
  Receiving& receiving = *found->second;
  if (receiving.message->bytes != bytes) return refuse(receiving, bytes, true);
  receiving.saw_announcement = true;
  if (!receiving.landing) make_ready(receiving);
}

// --- progress and failures

bool FabricMessages::progress() {
  const std::lock_guard lock(port_->mutex());
  if (error_) return port_->progress(*this), false; // others may still wait for what was started
  message_moved_ = false;
  if (port_->progress(*this)) {
    turns_without_movement_ = 0;
    if (port_->failures() != failures_seen_) look_at_failures();
    return message_moved_; // the provider takes pings of a peer that is not there, too
  }
  if (++turns_without_movement_ % turns_between_clocks != 0) return false;
  if (!waiting_sends_.empty()) announce_late_ones();
  look_for_lost_peers();
  if (port_->failures() != failures_seen_) look_at_failures();
  return false;
}

bool FabricMessages::drained() const {
  const std::lock_guard lock(port_->mutex());
  return port_->under_way(*this) == 0;
}

std::vector<std::int32_t> FabricMessages::awaited() const {
  std::vector<std::int32_t> peers;
  for (const Sending& sending : sends_) peers.push_back(sending.key.peer);
  for (const Receiving& receiving : receives_) peers.push_back(receiving.key.peer);
  return peers;
}

// This communicator, or another of the port, could not reach it.
void FabricMessages::lose(std::int32_t rank) {
  const PeerId peer = peers_.at(rank).id;
  const std::string& failure = port_->failure(peer); // empty: another communicator saw its process end
  if (shared_memory::has_ended(port_->process(peer))) port_->remove_remains(peer); // of one that lives it is in use
  has_lost_peers_ = true;
  fail(failed(fmt::format("rank {} of the communicator does not answer over {}", rank, port_->provider()),
              failure.empty() ? "its process has ended" : failure,
              "check that it still runs, and the links to its node"));
}

void FabricMessages::look_at_failures() {
  failures_seen_ = port_->failures();
  for (const std::int32_t rank : awaited()) {
    if (!port_->failure(peers_.at(rank).id).empty()) return lose(rank);
  }
  if (!port_->failure().empty())
    fail(failed(fmt::format("the provider {} failed", port_->provider()), port_->failure(), "use the network mpi"));
}

// A process of this machine that has ended; of other machines the connection says so, once something is sent.
void FabricMessages::look_for_lost_peers() {
  const Clock::time_point now = Clock::now();
  if (now < looks_at_ || !busy()) return;
  looks_at_ = now + time_between_looks;
  std::vector<std::int32_t> ranks = awaited();
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  for (const std::int32_t rank : ranks) {
    Peer& peer = peers_.at(rank);
    if (!shared_memory::has_ended(port_->process(peer.id))) continue;
    if (!std::exchange(peer.has_ended, true)) continue; // what it has sent before may not have been taken yet
    port_->remove_remains(peer.id);
    port_->lose(peer.id);
    has_lost_peers_ = true;
    return fail(failed(fmt::format("the process of rank {} of the communicator has ended", rank), {},
                       "see what it wrote before"));
  }
  if (now < pings_at_) return;
  pings_at_ = now + time_between_pings;
  for (const std::int32_t rank : ranks) port_->ping(peers_.at(rank).id);
}

void FabricMessages::abandon(const Error& reason) {
  const std::lock_guard lock(port_->mutex());
  fail(reason);
}

// Late puts into memory that the program may free are refused, because it is registered no more, unless another
// communicator keeps a place in the same memory. Operations under way end unheard: every handler looks at the error
// first.
void FabricMessages::fail(Error error) {
  if (!error_) error_ = std::move(error);
  port_->forget_waiting(*this);
  for (const auto& [key, message] : unexpected_) empty_slot(message);
  for (Receiving& receiving : receives_) release(receiving.own);
  for (auto& [list, landings] : landings_)
    for (Landing& landing : landings) {
      landing.receiving = nullptr;
      if (landing.list->open > 0)
        release(landing);
      else if (landing.range) // no put to it is under way
        port_->registrations().release(std::exchange(landing.range, nullptr), false);
    }
  early_.clear();
  for (Sending& sending : sends_) {
    if (sending.source) port_->registrations().release(std::exchange(sending.source, nullptr), false);
    sending.packed.leak();
  }
  sends_.clear();
  receives_.clear();
  waiting_sends_.clear();
  expected_.clear();
  unexpected_.clear();
  ready_.clear();
}

void FabricMessages::release(Landing& landing) {
  if (!landing.range) return;
  port_->registrations().release(std::exchange(landing.range, nullptr), false);
  landing.buffer.leak();
}

} // namespace kumihimo::fabric
