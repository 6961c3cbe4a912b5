#include "fabric/remote_access.hpp"

#include "shared_memory/signals_blocked.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace kumihimo::fabric {
namespace {

constexpr std::uint32_t only_network = 1; // the port has no other user
constexpr std::uint32_t stores_between_looks = 64;
constexpr std::chrono::milliseconds time_between_looks_at_stores{10};

} // namespace

// --- opening

Result<std::unique_ptr<RemoteAccess>> RemoteAccess::open(std::int32_t rank, std::int32_t ranks,
                                                         const Exchange& exchange, Result<AccessOptions> asked) {
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return wrong_value("the rank must be from 0 to the number of ranks - 1", fmt::format("rank {} of {}", rank, ranks));
  OpenedAccess opened = TRY(open_access(rank, ranks, exchange, asked));
  std::unique_ptr<RemoteAccess> made(new RemoteAccess(std::move(opened), rank, ranks));
  if (made->options_.progress.count() > 0) {
    const SignalsBlocked blocked; // they are for the program's own threads
    made->helper_ = std::jthread([access = made.get()](const std::stop_token& stop) { access->help(stop); });
  }
  return made;
}

RemoteAccess::RemoteAccess(OpenedAccess opened, std::int32_t rank, std::int32_t ranks)
    : port_(std::move(opened.port)), memory_(*port_, std::move(opened.node), rank, ranks), rank_(rank), ranks_(ranks),
      options_(opened.options), cards_(std::move(opened.cards)),
      card_bytes_(cards_.size() / static_cast<std::size_t>(ranks)) {
  port_->attach(*this, only_network);
  number_ = port_->take_number(*this, this).value_or(0); // the first one of a new port: the same everywhere
}

RemoteAccess::~RemoteAccess() {
  if (helper_.joinable()) helper_.request_stop(), helper_.join();
  const std::lock_guard lock(port_->mutex());
  memory_.release_all();
  port_->detach(*this);
}

std::string RemoteAccess::description() const {
  const ProviderRules& rules = port_->rules();
  const bool in_order = rules.ordered_bytes > 0 && rules.sends_after_puts;
  return fmt::format("{}{}, {} engine{}, {} puts, flags by {}, {}", port_->provider(),
                     port_->interface().empty() ? "" : " on " + port_->interface(), port_->engines(),
                     port_->engines() == 1 ? "" : "s", in_order ? "ordered" : "unordered",
                     rules.puts_carry_data ? "data of puts" : "messages", rules.has_atomics ? "atomics" : "no atomics");
}

// --- registered memory

AccessOutcome RemoteAccess::register_memory(std::byte* data, std::int64_t bytes, AccessKey& key) {
  const std::lock_guard lock(port_->mutex());
  return memory_.register_memory(data, bytes, key);
}

AccessOutcome RemoteAccess::deregister_memory(const AccessKey& key) {
  const std::lock_guard lock(port_->mutex());
  return memory_.deregister_memory(key);
}

AccessOutcome RemoteAccess::allocate(std::int64_t bytes, std::byte*& data, AccessKey& key) {
  const std::lock_guard lock(port_->mutex());
  return memory_.allocate(bytes, data, key);
}

AccessOutcome RemoteAccess::free(const AccessKey& key) {
  const std::lock_guard lock(port_->mutex());
  return memory_.free(key);
}

// Null: the provider reaches it, or says that its rank is lost. Earlier puts to a lost rank have ended: a flag by
// stores would say that their data are there.
std::byte* RemoteAccess::reached_by_stores(const Place& place) {
  const auto peer = peers_.find(place.rank());
  if (peer != peers_.end() && !peer->second.failure.empty()) return nullptr;
  std::byte* const data = memory_.mapped_at(place);
  if (!data) return nullptr;
  Stored& stored = stored_[place.rank()];
  const bool looks = stored.count++ % stores_between_looks == 0;
  return looks && is_lost_by_stores(place.rank(), stored) ? nullptr : data;
}

// Stores into the memory of a process that has ended look as if they had arrived.
bool RemoteAccess::is_lost_by_stores(std::int32_t rank, Stored& stored) {
  const Clock::time_point now = Clock::now();
  if (now < stored.looks_at) return false;
  stored.looks_at = now + time_between_looks_at_stores;
  Peer* peer = nullptr;
  if (!shared_memory::has_ended(memory_.process(rank)) || !meet(rank, peer).ok()) return false;
  lose(*peer, "its process has ended");
  return true;
}

bool RemoteAccess::put_by_stores(std::unique_lock<std::mutex>& lock, const std::byte* data, std::int64_t bytes,
                                 const Place& target, std::optional<std::int32_t> flag) {
  std::byte* const there = reached_by_stores(target);
  if (!there) return false;
  if (flag) {
    const auto peer = peers_.find(target.rank());
    if (peer != peers_.end() && !peer->second.lanes[engine_].is_delivered()) {
      // Asked, so that later flags may go by stores again.
      if (Lane& lane = peer->second.lanes[engine_]; lane.asked < lane.ordered) flush(peer->second, engine_);
      return false;
    }
  }
  memory_.copy(lock, target, there, data, bytes);
  if (flag) memory_.count(target.rank(), *flag);
  return true;
}

AccessOutcome RemoteAccess::use_engine(std::int32_t engine) {
  const std::lock_guard lock(port_->mutex());
  if (engine < 0 || engine >= static_cast<std::int32_t>(port_->engines()))
    return bad(fmt::format("the engine must be from 0 to {}", port_->engines() - 1), engine);
  engine_ = static_cast<std::size_t>(engine);
  return {};
}

// --- peers

AccessOutcome RemoteAccess::fault_of_rank(std::int32_t rank) const {
  if (rank >= 0 && rank < ranks_) return {};
  return bad(fmt::format("the rank must be from 0 to {}, or KUMIHIMO_RMA_ALL_RANKS", ranks_ - 1), rank);
}

AccessOutcome RemoteAccess::meet(std::int32_t rank, Peer*& peer) {
  if (const auto known = peers_.find(rank); known != peers_.end()) {
    peer = &known->second;
    return peer->failure.empty() ? AccessOutcome{} : lost(*peer);
  }
  const auto card = std::span(cards_).subspan(static_cast<std::size_t>(rank) * card_bytes_, card_bytes_);
  const Result<PeerId> id = port_->meet(card);
  if (!id) return outcome_of(id.error());
  peer = &peers_[rank];
  peer->rank = rank;
  peer->id = *id;
  return {};
}

AccessOutcome RemoteAccess::lost(const Peer& peer) const {
  return {AccessCode::peer_failed,
          failed(fmt::format("rank {} cannot be reached over {}", peer.rank, port_->provider()), peer.failure,
                 "check that it runs, has the memory registered, and the links to its node")
              .sentence()};
}

// Its operations end. The provider may still use their memory.
void RemoteAccess::lose(Peer& peer, const std::string& why) {
  if (!peer.failure.empty()) return;
  peer.failure = why;
  last_failure_ = lost(peer).text;
  const auto end = [](AccessCompletion* completion) {
    if (completion) --completion->open, ++completion->failed;
  };
  for (Issued& issued : issued_) {
    if (issued.peer != &peer) continue;
    end(std::exchange(issued.completion, nullptr));
    issued.peer = nullptr;
  }
  for (Lane& lane : peer.lanes) {
    for (const Queued& held : lane.held) {
      end(held.completion);
      if (held.put.source) port_->registrations().release(held.put.source);
    }
    lane = {};
  }
  peer.open = 0;
  if (shared_memory::has_ended(port_->process(peer.id))) port_->remove_remains(peer.id);
}

void RemoteAccess::look_at_failures() {
  failures_seen_ = port_->failures();
  for (auto& [rank, peer] : peers_)
    if (const std::string& text = port_->failure(peer.id); !text.empty()) lose(peer, text);
  if (!port_->failure().empty())
    for (auto& [rank, peer] : peers_) lose(peer, port_->failure());
}

// --- operations

bool RemoteAccess::is_ordered(std::int64_t bytes) const {
  const ProviderRules& rules = port_->rules();
  return rules.sends_after_puts && rules.ordered_bytes > 0 && static_cast<std::uint64_t>(bytes) <= rules.ordered_bytes;
}

AccessOutcome RemoteAccess::use_range(const std::byte* data, std::int64_t bytes, RegisteredRange*& range) {
  if (!port_->rules().registers_sources) return {};
  const Result<RegisteredRange*> used = port_->registrations().use(data, bytes);
  if (!used) return outcome_of(used.error());
  range = *used;
  return {};
}

RemoteAccess::Issued& RemoteAccess::note(Peer& peer, AccessCompletion* completion) {
  if (free_.empty()) free_.emplace_back();
  issued_.splice(issued_.end(), free_, free_.begin());
  Issued& issued = issued_.back();
  issued = {};
  issued.peer = &peer;
  issued.completion = completion;
  issued.self = std::prev(issued_.end());
  ++peer.open;
  return issued;
}

void RemoteAccess::forget(Issued& issued) {
  if (issued.range) port_->registrations().release(issued.range);
  free_.splice(free_.end(), issued_, issued.self);
}

AccessOutcome RemoteAccess::put(const std::byte* data, std::int64_t bytes, const Place& target,
                                std::optional<std::int32_t> flag, AccessCompletion* completion) {
  std::unique_lock lock(port_->mutex());
  if (flag && (*flag < 0 || *flag >= flags)) return bad(fmt::format("the flag must be from 0 to {}", flags - 1), *flag);
  if (auto fault = memory_.fault_of(target, bytes)) return *fault;
  if (bytes > 0 && !data) return bad("a put needs the address of its source", "a null pointer");
  const std::int32_t rank = target.rank();
  if (rank == rank_) {
    memory_.copy(lock, target, memory_.here(target), data, bytes);
    if (flag) count_flag(*flag);
    return {};
  }
  if (put_by_stores(lock, data, bytes, target, flag)) return {};
  Peer* peer = nullptr;
  if (AccessOutcome met = meet(rank, peer); !met.ok()) return met;
  Queued queued{{}, flag, completion};
  FabricPort::Put& put = queued.put;
  put.peer = peer->id;
  put.engine = engine_;
  put.data = data;
  put.bytes = bytes;
  put.address = target.key->address + static_cast<std::uint64_t>(target.offset);
  put.key = target.key->of_engine[engine_];
  if (bytes > 0)
    if (AccessOutcome used = use_range(data, bytes, put.source); !used.ok()) return used;
  if (completion) ++completion->open;
  submit(*peer, queued);
  return started(*peer, completion);
}

// An operation that failed at once: its completion says so, or else the call.
AccessOutcome RemoteAccess::started(const Peer& peer, const AccessCompletion* completion) {
  if (port_->failures() != failures_seen_) look_at_failures();
  return peer.failure.empty() || completion ? AccessOutcome{} : lost(peer);
}

// Whether nothing that was put before can come after the flag of this put.
bool RemoteAccess::may_issue(const Lane& lane, const Queued& queued) const {
  if (!queued.flag) return true;
  if (lane.undelivered > 0) return false;
  return queued.put.bytes == 0 || is_ordered(queued.put.bytes) || lane.ordered == lane.flushed;
}

void RemoteAccess::submit(Peer& peer, Queued queued) {
  Lane& lane = peer.lanes[queued.put.engine];
  const bool goes = lane.held.empty() && may_issue(lane, queued);
  if (goes) return issue(peer, queued);
  lane.held.push_back(queued);
  advance(peer, lane);
}

void RemoteAccess::advance(Peer& peer, Lane& lane) {
  while (!lane.held.empty() && may_issue(lane, lane.held.front())) {
    const Queued queued = lane.held.front();
    lane.held.pop_front();
    issue(peer, queued);
  }
  if (!lane.held.empty() && lane.asked < lane.ordered) flush(peer, lane.held.front().put.engine);
}

void RemoteAccess::issue(Peer& peer, Queued queued) {
  FabricPort::Put& put = queued.put;
  Lane& lane = peer.lanes[put.engine];
  Issued& issued = note(peer, queued.completion);
  issued.range = put.source;
  if (put.bytes == 0) {
    if (queued.flag) return send(peer, put.engine, WireKind::flag, static_cast<std::uint64_t>(*queued.flag), &issued);
    return completed(&issued);
  }
  const bool ordered = is_ordered(put.bytes), carries = queued.flag && port_->rules().puts_carry_data;
  if (carries) put.flag = FlagData{number_, static_cast<std::uint16_t>(*queued.flag), false};
  if (ordered) {
    ++lane.ordered;
  } else {
    put.delivered = true;
    issued.lane = &lane;
    ++lane.undelivered;
  }
  const bool follows = queued.flag && !carries;
  if (follows && !ordered) issued.flag = queued.flag;
  port_->put(*this, put, &issued);
  if (follows && ordered) send(peer, put.engine, WireKind::flag, static_cast<std::uint64_t>(*queued.flag));
}

AccessOutcome RemoteAccess::get(std::byte* data, std::int64_t bytes, const Place& source,
                                AccessCompletion* completion) {
  std::unique_lock lock(port_->mutex());
  if (auto fault = memory_.fault_of(source, bytes)) return *fault;
  if (bytes > 0 && !data) return bad("a get needs the address of its result", "a null pointer");
  const std::int32_t rank = source.rank();
  if (const std::byte* const there = rank == rank_ ? memory_.here(source) : reached_by_stores(source)) {
    memory_.copy(lock, source, data, there, bytes);
    return {};
  }
  Peer* peer = nullptr;
  if (AccessOutcome met = meet(rank, peer); !met.ok()) return met;
  if (bytes == 0) return {};
  FabricPort::Get get;
  get.peer = peer->id;
  get.engine = engine_;
  get.data = data;
  get.bytes = bytes;
  get.address = source.key->address + static_cast<std::uint64_t>(source.offset);
  get.key = source.key->of_engine[engine_];
  if (AccessOutcome used = use_range(data, bytes, get.target); !used.ok()) return used;
  if (completion) ++completion->open;
  Issued& issued = note(*peer, completion);
  issued.range = get.target;
  port_->get(*this, get, &issued);
  return started(*peer, completion);
}

// Those on this rank's own memory go through the provider, too: it may not be atomic beside the processor's.
AccessOutcome RemoteAccess::change(FabricPort::Atomic atomic, const Place& target, AccessCompletion* completion) {
  const std::lock_guard lock(port_->mutex());
  if (!port_->rules().has_atomics)
    return outcome_of(not_applicable(
        options_.port.provider.atomics
            ? fmt::format("the provider {} has no fetch-add and compare-and-swap of 64-bit integers", port_->provider())
            : std::string("atomics must be asked for when remote memory is opened"),
        {},
        options_.port.provider.atomics ? "name another provider, such as provider=tcp;ofi_rxm"
                                       : "add atomics=1 to the options"));
  if (auto fault = memory_.fault_of(target, sizeof(std::int64_t))) return *fault;
  if (target.offset % static_cast<std::int64_t>(sizeof(std::int64_t)) != 0)
    return bad("the offset of an atomic must be a multiple of 8", target.offset);
  if (!atomic.old) return bad("an atomic needs the address of its result", "a null pointer");
  Peer* peer = nullptr;
  if (AccessOutcome met = meet(target.rank(), peer); !met.ok()) return met;
  atomic.peer = peer->id;
  atomic.engine = engine_;
  atomic.address = target.key->address + static_cast<std::uint64_t>(target.offset);
  atomic.key = target.key->of_engine[engine_];
  if (completion) ++completion->open;
  port_->change(*this, atomic, &note(*peer, completion));
  return started(*peer, completion);
}

void RemoteAccess::completed(void* operation) {
  auto& issued = *static_cast<Issued*>(operation);
  Peer* const peer = issued.peer;
  if (!peer) return forget(issued);
  if (issued.flag) { // delivered: now its flag, and the put completes with that
    const std::int32_t flag = *std::exchange(issued.flag, std::nullopt);
    const auto engine = static_cast<std::size_t>(issued.lane - peer->lanes.data());
    return send(*peer, engine, WireKind::flag, static_cast<std::uint64_t>(flag), &issued);
  }
  if (issued.completion) --issued.completion->open;
  --peer->open;
  Lane* const lane = issued.lane;
  if (lane) --lane->undelivered;
  forget(issued);
  if (lane) advance(*peer, *lane);
}

// --- messages

void RemoteAccess::send(Peer& peer, std::size_t engine, WireKind kind, std::uint64_t number, void* token) {
  WireHeader header;
  header.kind = kind;
  header.network = only_network;
  header.source = static_cast<std::uint32_t>(rank_);
  header.lane = static_cast<std::uint16_t>(engine);
  header.instance = number;
  port_->send(*this, peer.id, engine, header, {}, token);
}

// Answered behind the puts that were started before it on this engine.
void RemoteAccess::flush(Peer& peer, std::size_t engine) {
  Lane& lane = peer.lanes[engine];
  lane.asked = lane.ordered;
  send(peer, engine, WireKind::flush, lane.asked);
}

void RemoteAccess::arrived(const WireHeader& header, const std::byte*, std::int64_t) {
  const auto source = static_cast<std::int32_t>(header.source);
  Peer* peer = nullptr;
  if (source < 0 || source >= ranks_ || header.lane >= port_->engines() || !meet(source, peer).ok()) return;
  switch (header.kind) {
  case WireKind::flag: return count_flag(static_cast<std::int32_t>(header.instance % flags));
  case WireKind::flush: return send(*peer, header.lane, WireKind::flushed, header.instance);
  case WireKind::flushed: {
    Lane& lane = peer->lanes[header.lane];
    lane.flushed = std::max(lane.flushed, header.instance);
    return advance(*peer, lane);
  }
  case WireKind::meet:
    if (header.instance < meets_.size())
      ++meets_[header.instance];
    else
      lost_in_barrier_ = static_cast<std::int32_t>(header.instance - meets_.size());
    return;
  default: return;
  }
}

void RemoteAccess::flagged(void*, FlagData flag) { count_flag(flag.chunk); }

void RemoteAccess::count_flag(std::int32_t flag) {
  const auto at = static_cast<std::size_t>(flag);
  if (at >= flags_.size()) flags_.resize(at + 1);
  ++flags_[at];
}

std::int64_t RemoteAccess::put_times(std::int32_t flag) const {
  const auto at = static_cast<std::size_t>(flag);
  return (at < flags_.size() ? flags_[at] : 0) + memory_.counted(flag);
}

} // namespace kumihimo::fabric
