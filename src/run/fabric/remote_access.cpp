#include "fabric/remote_access.hpp"

#include "base/hash.hpp"
#include "shared_memory/machine_number.hpp"
#include "shared_memory/signals_blocked.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

namespace kumihimo::fabric {
namespace {

constexpr std::uint32_t key_mark = 0x4b4d484b, mapped_mark = 0x4b4d484d; // of memory registered, and allocated here
constexpr std::uint32_t only_network = 1;                                // the port has no other user

// What ranks tell each other before they open a provider, and after.
struct Greeting {
  std::int32_t rank = 0, ranks = 0;
  std::int64_t machine = 0;
  std::uint64_t network_space = 0;
  NodeMemory::Invitation node;
};
struct Opening {
  std::int32_t failed = 0, code = 0, card_bytes = 0, engines = 0, rails = 0, atomics = 0;
  char provider[64] = {};
  char problem[256] = {};
};

std::uint64_t own_network_space() {
  struct stat facts {};
  return stat("/proc/self/ns/net", &facts) == 0 ? facts.st_ino : 0;
}

std::uint64_t sum_of(const AccessKey& key) {
  std::uint64_t sum = mixed(std::uint64_t{key.mark} << 32 | key.rank, key.address);
  sum = mixed(sum, static_cast<std::uint64_t>(key.bytes));
  for (const std::uint64_t each : key.of_engine) sum = mixed(sum, each);
  return sum;
}

AccessOutcome outcome_of(const Error& error) {
  const bool is_missing = error.kind == Error::Kind::not_applicable;
  return {is_missing ? AccessCode::not_supported : AccessCode::failed, error.sentence()};
}

template <class Item>
Result<std::vector<Item>> exchanged(const RemoteAccess::Exchange& exchange, const Item& mine, std::int32_t ranks) {
  std::vector<Item> all(static_cast<std::size_t>(ranks));
  if (const int code = exchange(&mine, all.data(), sizeof mine); code != 0)
    return failed("the program's exchange between the ranks failed", fmt::format("it returned {}", code));
  return all;
}

} // namespace

// Who is on this rank's node, and whether all ranks can use this machine's loopback interface.
Result<RemoteAccess::Companions> RemoteAccess::greet(std::int32_t rank, std::int32_t ranks, const Exchange& exchange) {
  auto node = std::make_unique<NodeMemory>();
  const Greeting mine{rank, ranks, shared_memory::machine_number(), own_network_space(), node->invitation()};
  const std::vector<Greeting> all = TRY(exchanged(exchange, mine, ranks));
  bool one = mine.machine != shared_memory::no_machine_number;
  for (std::int32_t r = 0; r < ranks; ++r) {
    const Greeting& other = all[static_cast<std::size_t>(r)];
    if (other.rank != r || other.ranks != ranks)
      return wrong_value("the exchange must give what each rank gave, in the order of ranks",
                         fmt::format("rank {} of {} at place {} of {}", other.rank, other.ranks, r, ranks));
    one = one && other.machine == mine.machine && other.network_space == mine.network_space;
    if (r != rank) node->meet(r, other.node);
  }
  return Companions{std::move(node), one};
}

namespace {

Opening opening_of(const Result<std::unique_ptr<FabricPort>>& port) {
  Opening mine;
  const auto copy = [](auto& to, const std::string& text) { text.copy(to, sizeof to - 1); };
  if (!port) {
    mine.failed = 1, mine.code = static_cast<std::int32_t>(port.error().kind);
    copy(mine.problem, port.error().sentence());
    return mine;
  }
  mine.card_bytes = static_cast<std::int32_t>((*port)->card().size());
  mine.engines = static_cast<std::int32_t>((*port)->engines());
  mine.rails = static_cast<std::int32_t>((*port)->rails());
  mine.atomics = (*port)->rules().has_atomics;
  copy(mine.provider, (*port)->provider());
  return mine;
}

// Every rank gets the same answer, and the one that failed its own words.
Status agree(const Opening& mine, const std::vector<Opening>& all) {
  for (std::size_t r = 0; r < all.size(); ++r)
    if (all[r].failed != 0) {
      Error error = failed(fmt::format("rank {} could not open a provider", r), all[r].problem);
      error.kind = static_cast<Error::Kind>(all[r].code);
      return error;
    }
  for (std::size_t r = 0; r < all.size(); ++r)
    if (std::string_view(all[r].provider) != mine.provider || all[r].card_bytes != mine.card_bytes ||
        all[r].engines != mine.engines || all[r].rails != mine.rails || all[r].atomics != mine.atomics)
      return not_applicable(
          fmt::format("all ranks must have the same provider, engines, rails and atomics, and rank {} "
                      "has {} with {} on {}, this one {} with {} on {}",
                      r, all[r].provider, all[r].engines, all[r].rails, mine.provider, mine.engines, mine.rails),
          {}, "give all ranks the same options");
  return Nothing{};
}

} // namespace

AccessOutcome bad(std::string rule, const Got& got) {
  return {AccessCode::bad_argument, wrong_value(std::move(rule), got).sentence()};
}

// --- opening

Result<std::unique_ptr<RemoteAccess>> RemoteAccess::open(std::int32_t rank, std::int32_t ranks,
                                                         const Exchange& exchange, Result<AccessOptions> asked) {
  if (ranks < 1 || rank < 0 || rank >= ranks)
    return wrong_value("the rank must be from 0 to the number of ranks - 1", fmt::format("rank {} of {}", rank, ranks));
  AccessOptions options = asked ? *asked : AccessOptions{};
  Companions companions = TRY(greet(rank, ranks, exchange));
  options.port.provider.one_machine = companions.one_machine;
  options.port.provider.processes = ranks;
  Result<std::unique_ptr<FabricPort>> port =
      asked ? FabricPort::open(options.port) : Result<std::unique_ptr<FabricPort>>(asked.error());
  const Opening mine = opening_of(port);
  const std::vector<Opening> openings = TRY(exchanged(exchange, mine, ranks));
  if (Status status = agree(mine, openings); !status) return port ? status.error() : port.error();
  std::unique_ptr<RemoteAccess> made(
      new RemoteAccess(std::move(*port), std::move(companions.node), rank, ranks, options));
  const std::vector<std::byte> card = made->port_->card();
  made->card_bytes_ = card.size();
  made->cards_.resize(card.size() * static_cast<std::size_t>(ranks));
  if (const int code = exchange(card.data(), made->cards_.data(), card.size()); code != 0)
    return failed("the program's exchange between the ranks failed", fmt::format("it returned {}", code));
  if (options.progress.count() > 0) {
    const SignalsBlocked blocked; // they are for the program's own threads
    made->helper_ = std::jthread([access = made.get()](const std::stop_token& stop) { access->help(stop); });
  }
  return made;
}

RemoteAccess::RemoteAccess(std::unique_ptr<FabricPort> port, std::unique_ptr<NodeMemory> node, std::int32_t rank,
                           std::int32_t ranks, const AccessOptions& options)
    : port_(std::move(port)), node_(std::move(node)), rank_(rank), ranks_(ranks), options_(options) {
  port_->attach(*this, only_network);
  number_ = port_->take_number(*this, this).value_or(0); // the first one of a new port: the same everywhere
}

RemoteAccess::~RemoteAccess() {
  if (helper_.joinable()) helper_.request_stop(), helper_.join();
  const std::lock_guard lock(port_->mutex());
  for (auto& [sum, region] : own_) port_->registrations().release(region.range, false);
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
  if (!data || bytes < 1) return bad("memory to register needs an address and at least 1 byte", bytes);
  const std::lock_guard lock(port_->mutex());
  return enroll(data, bytes, key_mark, key);
}

AccessOutcome RemoteAccess::enroll(std::byte* data, std::int64_t bytes, std::uint32_t mark, AccessKey& key) {
  const Result<RegisteredRange*> range = port_->registrations().use(data, bytes);
  if (!range) return outcome_of(range.error());
  key = {};
  key.mark = mark;
  key.rank = static_cast<std::uint32_t>(rank_);
  key.address = port_->registrations().remote_address(**range, data);
  key.bytes = bytes;
  for (std::size_t engine = 0; engine < port_->engines(); ++engine)
    key.of_engine[engine] = fi_mr_key((*range)->at(engine));
  key.sum = sum_of(key);
  OwnRegion& region = own_[key.sum];
  region.data = data, region.range = *range;
  ++region.times;
  return {};
}

AccessOutcome RemoteAccess::deregister_memory(const AccessKey& key) {
  const std::lock_guard lock(port_->mutex());
  const auto found = own_.find(key.sum);
  if (found == own_.end() || sum_of(key) != key.sum || key.mark != key_mark)
    return bad("the key must be of memory that this rank has registered", "another key");
  port_->registrations().release(found->second.range, false);
  if (--found->second.times == 0) own_.erase(found);
  return {};
}

AccessOutcome RemoteAccess::allocate(std::int64_t bytes, std::byte*& data, AccessKey& key) {
  if (bytes < 1) return bad("memory to allocate needs at least 1 byte", bytes);
  const std::lock_guard lock(port_->mutex());
  const Result<std::byte*> memory = node_->allocate(bytes);
  if (!memory) return outcome_of(memory.error());
  AccessOutcome outcome = enroll(*memory, bytes, mapped_mark, key);
  if (!outcome.ok()) return node_->free(*memory), outcome;
  node_->publish(*memory, key.sum);
  data = *memory;
  return {};
}

AccessOutcome RemoteAccess::free(const AccessKey& key) {
  const std::lock_guard lock(port_->mutex());
  const auto found = own_.find(key.sum);
  if (found == own_.end() || sum_of(key) != key.sum || key.mark != mapped_mark)
    return bad("the key must be of memory that this rank has allocated", "another key");
  port_->registrations().release(found->second.range, false);
  node_->free(found->second.data);
  own_.erase(found);
  return {};
}

std::byte* RemoteAccess::mapped_at(const Place& place) {
  if (place.key->mark != mapped_mark) return nullptr;
  const auto rank = static_cast<std::int32_t>(place.key->rank);
  const auto peer = peers_.find(rank);
  // Earlier puts to a lost rank have ended: a flag by stores would say that their data are there.
  if (peer != peers_.end() && !peer->second.failure.empty()) return nullptr;
  std::byte* const data = node_->find(rank, place.key->sum);
  return data ? data + place.offset : nullptr;
}

bool RemoteAccess::put_by_stores(const std::byte* data, std::int64_t bytes, const Place& target,
                                 std::optional<std::int32_t> flag) {
  const auto rank = static_cast<std::int32_t>(target.key->rank);
  std::byte* const there = mapped_at(target);
  if (!there) return false;
  if (flag) {
    const auto peer = peers_.find(rank);
    if (peer != peers_.end() && !peer->second.lanes[engine_].is_delivered()) {
      // Asked, so that later flags may go by stores again.
      if (Lane& lane = peer->second.lanes[engine_]; lane.asked < lane.ordered) flush(peer->second, engine_);
      return false;
    }
  }
  if (bytes > 0) std::memmove(there, data, static_cast<std::size_t>(bytes));
  if (flag) node_->count(rank, *flag);
  return true;
}

AccessOutcome RemoteAccess::use_engine(std::int32_t engine) {
  const std::lock_guard lock(port_->mutex());
  if (engine < 0 || engine >= static_cast<std::int32_t>(port_->engines()))
    return bad(fmt::format("the engine must be from 0 to {}", port_->engines() - 1), engine);
  engine_ = static_cast<std::size_t>(engine);
  return {};
}

std::byte* RemoteAccess::here(const Place& place) {
  const auto found = own_.find(place.key->sum);
  return found == own_.end() ? nullptr : found->second.data + place.offset;
}

std::optional<AccessOutcome> RemoteAccess::fault_of(const Place& place, std::int64_t bytes) const {
  const AccessKey* const key = place.key;
  if (!key || (key->mark != key_mark && key->mark != mapped_mark) || key->sum != sum_of(*key))
    return bad("the key must be one that kumihimo_rma_register or kumihimo_rma_allocate has made",
               key ? "other bytes" : "a null pointer");
  if (key->rank >= static_cast<std::uint32_t>(ranks_))
    return bad(fmt::format("the key must be of one of the {} ranks", ranks_), fmt::format("rank {}", key->rank));
  if (bytes < 0 || place.offset < 0 || place.offset > key->bytes || bytes > key->bytes - place.offset)
    return bad(fmt::format("an access must lie within the {} bytes that rank {} has registered", key->bytes, key->rank),
               fmt::format("{} bytes at {}", bytes, place.offset));
  if (static_cast<std::int32_t>(key->rank) == rank_ && !own_.contains(key->sum))
    return bad("the memory of the key must be registered", "a key of memory that was deregistered");
  return std::nullopt;
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
  const std::lock_guard lock(port_->mutex());
  if (flag && (*flag < 0 || *flag >= flags)) return bad(fmt::format("the flag must be from 0 to {}", flags - 1), *flag);
  if (auto fault = fault_of(target, bytes)) return *fault;
  if (bytes > 0 && !data) return bad("a put needs the address of its source", "a null pointer");
  const auto rank = static_cast<std::int32_t>(target.key->rank);
  if (rank == rank_) {
    if (bytes > 0) std::memmove(here(target), data, static_cast<std::size_t>(bytes));
    if (flag) count_flag(*flag);
    return {};
  }
  if (put_by_stores(data, bytes, target, flag)) return {};
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
  const std::lock_guard lock(port_->mutex());
  if (auto fault = fault_of(source, bytes)) return *fault;
  if (bytes > 0 && !data) return bad("a get needs the address of its result", "a null pointer");
  const auto rank = static_cast<std::int32_t>(source.key->rank);
  if (rank == rank_) {
    if (bytes > 0) std::memmove(data, here(source), static_cast<std::size_t>(bytes));
    return {};
  }
  if (const std::byte* const there = mapped_at(source)) {
    if (bytes > 0) std::memmove(data, there, static_cast<std::size_t>(bytes));
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
  if (auto fault = fault_of(target, sizeof(std::int64_t))) return *fault;
  if (target.offset % static_cast<std::int64_t>(sizeof(std::int64_t)) != 0)
    return bad("the offset of an atomic must be a multiple of 8", target.offset);
  if (!atomic.old) return bad("an atomic needs the address of its result", "a null pointer");
  Peer* peer = nullptr;
  if (AccessOutcome met = meet(static_cast<std::int32_t>(target.key->rank), peer); !met.ok()) return met;
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
  return (at < flags_.size() ? flags_[at] : 0) + node_->counted(flag);
}

} // namespace kumihimo::fabric
