#include "fabric/port.hpp"

#include <fmt/format.h>
#include <rdma/fi_atomic.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

namespace kumihimo::fabric {
namespace {

constexpr std::size_t receives_of_engine = 64; // messages that may arrive between two turns of progress
constexpr std::size_t completions_at_once = 16;
constexpr std::size_t most_numbers = 1u << 16;

} // namespace

// A call of libfabric that is under way. Its context comes first: the provider hands that address back.
struct FabricPort::Operation {
  enum class Kind : std::uint8_t { receive, message, put, get, atomic };
  fi_context2 context{};
  Kind kind = Kind::receive;
  std::uint32_t engine = 0;
  PeerId peer = -1;
  User* user = nullptr; // null: of one that has left
  void* token = nullptr;
  std::byte* block = nullptr; // of a message or a receive
  RegisteredRange* range = nullptr;
  std::size_t bytes = 0;
  bool stays = false; // when its user forgets what waits
  Put put;
  Get get;
  Atomic atomic; // its numbers lie in the block
};

namespace {

CardHeader header_of(std::span<const std::byte> card) {
  CardHeader header;
  std::memcpy(&header, card.data(), sizeof header);
  return header;
}

std::string name_of_card(std::span<const std::byte> card) {
  return {reinterpret_cast<const char*>(card.data()), card.size()};
}

// In the block of an atomic, which the provider may want registered.
enum AtomicPlace : std::size_t { place_of_value, place_of_expected, place_of_old };

} // namespace

struct FabricPort::Event {
  enum class Kind : std::uint8_t { arrived, flagged, completed };
  Kind kind = Kind::completed;
  void* token = nullptr;
  FlagData flag;
  std::vector<std::byte> message;
};

struct FabricPort::User {
  FabricUser* self = nullptr;
  std::uint32_t network = 0;
  std::int64_t under_way = 0;
  std::deque<Event> inbox;
};

FabricPort::FabricPort(const PortOptions& options)
    : options_(options), short_messages_(options.channels, *this),
      blocks_(block_bytes(), [this](const std::byte* data, std::int64_t bytes) -> Result<RegisteredRange*> {
        if (rules_.registers_sources) return registrations_->use(data, bytes);
        return nullptr;
      }) {}

Result<std::unique_ptr<FabricPort>> FabricPort::open(const PortOptions& options) {
  std::unique_ptr<FabricPort> port(new FabricPort(options));
  port->engines_ = TRY(FabricEngines::open(options.provider, options.rails, options.engines, receives_of_engine));
  port->rules_ = port->engines_->rules();
  if (options.flags_by_messages) port->rules_.puts_carry_data = false;
  if (options.orders_nothing) port->rules_.ordered_bytes = 0, port->rules_.sends_after_puts = false;
  if (!port->rules_.can_flag())
    return not_applicable(fmt::format("the provider {} cannot flag puts in this way", port->provider()));
  port->registrations_ = std::make_unique<Registrations>(port->engines_->domains(), port->engines_->endpoints());
  port->short_messages_.name_self(port->card());
  if (Status status = port->post_receives(); !status) return status.error();
  return port;
}

Status FabricPort::post_receives() {
  for (std::uint32_t engine = 0; engine < engines(); ++engine)
    for (std::size_t i = 0; i < receives_of_engine; ++i) {
      Operation* const receive = take_operation();
      receive->kind = Operation::Kind::receive;
      receive->engine = engine;
      if (!give_block(*receive)) return failed("out of memory for the messages of a port");
      receive->bytes = block_bytes();
      start(receive);
    }
  return Nothing{};
}

FabricPort::~FabricPort() {
  if (engines_) engines_->close();
  registrations_.reset();
}

// --- processes

std::vector<std::byte> FabricPort::card() const {
  std::size_t bytes = 0;
  const std::vector<std::byte> addresses = engines_->addresses(bytes);
  const CardHeader header{shared_memory::own_process(), static_cast<std::int32_t>(engines()),
                          static_cast<std::int32_t>(bytes)};
  std::vector<std::byte> card(sizeof header + addresses.size());
  std::memcpy(card.data(), &header, sizeof header);
  std::memcpy(card.data() + sizeof header, addresses.data(), addresses.size());
  return card;
}

std::optional<PeerId> FabricPort::met(std::span<const std::byte> card) const {
  const auto known = peer_of_card_.find(name_of_card(card));
  return known != peer_of_card_.end() ? std::optional(known->second) : std::nullopt;
}

shared_memory::PeerProcess FabricPort::process_of(std::span<const std::byte> card) { return header_of(card).process; }

Result<PeerId> FabricPort::meet(std::span<const std::byte> card) {
  if (const std::optional<PeerId> known = met(card)) return *known;
  const CardHeader header = header_of(card);
  Peer peer;
  peer.process = header.process;
  for (std::size_t engine = 0; engine < engines(); ++engine) {
    const std::size_t other = engine % static_cast<std::size_t>(header.engines);
    const std::byte* const address =
        card.data() + sizeof header + other * static_cast<std::size_t>(header.address_bytes);
    fi_addr_t found = FI_ADDR_NOTAVAIL;
    const int inserted = fi_av_insert(engines_->domain_of(engine).addresses(), address, 1, &found, 0, nullptr);
    if (inserted != 1)
      return failed(fmt::format("the provider {} does not take the address of a process", provider()),
                    library().text(inserted));
    peer.of_engine.push_back(found);
  }
  peers_.push_back(std::move(peer));
  const auto id = static_cast<PeerId>(peers_.size() - 1);
  peer_of_card_.emplace(name_of_card(card), id);
  short_messages_.name(id, card);
  return id;
}

// --- users and numbers

FabricPort::User& FabricPort::user_of(FabricUser& user) {
  return **std::find_if(users_.begin(), users_.end(), [&](const auto& each) { return each->self == &user; });
}

bool FabricPort::attach(FabricUser& user, std::uint32_t network) {
  last_network_ = std::max(last_network_, network);
  if (user_of_network_.contains(network)) return false;
  users_.push_back(std::make_unique<User>(User{&user, network, 0, {}}));
  user_of_network_.emplace(network, users_.back().get());
  return true;
}

// Its operations stay with the provider; nobody hears of them. Its numbers are never given again: a late put of
// another process may still name one.
void FabricPort::detach(FabricUser& user) {
  const auto found = std::find_if(users_.begin(), users_.end(), [&](const auto& each) { return each->self == &user; });
  if (found == users_.end()) return;
  User* const leaving = found->get();
  forget_waiting(user);
  for (const auto& operation : operations_)
    if (operation->user == leaving) operation->user = nullptr;
  for (Number& number : numbers_)
    if (number.user == leaving) number = {};
  user_of_network_.erase(leaving->network);
  for (const Event& event : leaving->inbox) {
    WireHeader header;
    if (event.kind != Event::Kind::arrived) continue;
    std::memcpy(&header, event.message.data(), sizeof header);
    if (header.kind == WireKind::eager)
      short_messages_.empty(short_messages_.sender_of(header), header.number, nullptr);
  }
  users_.erase(found);
}

void FabricPort::forget_waiting(FabricUser& user) {
  User* const whose = &user_of(user);
  std::erase_if(waiting_, [&](Operation* operation) {
    if (operation->user != whose || operation->stays) return false;
    if (operation->peer >= 0) --peers_[at(operation->peer)].waiting;
    --whose->under_way;
    give_operation(operation);
    return true;
  });
}

std::int64_t FabricPort::under_way(const FabricUser& user) const {
  for (const auto& each : users_)
    if (each->self == &user) return each->under_way;
  return 0;
}

std::optional<std::uint16_t> FabricPort::take_number(FabricUser& user, void* of_number) {
  if (free_numbers_.empty()) {
    if (numbers_.size() == most_numbers) return std::nullopt;
    free_numbers_.push_back(static_cast<std::uint16_t>(numbers_.size()));
    numbers_.emplace_back();
  }
  const std::uint16_t number = free_numbers_.back();
  free_numbers_.pop_back();
  numbers_[number] = {&user_of(user), of_number};
  return number;
}

void FabricPort::give_number(std::uint16_t number) {
  numbers_[number] = {};
  free_numbers_.push_back(number);
}

// --- operations

FabricPort::Operation* FabricPort::take_operation() {
  if (free_operations_.empty()) return operations_.emplace_back(std::make_unique<Operation>()).get();
  Operation* const operation = free_operations_.back();
  free_operations_.pop_back();
  return operation;
}

void FabricPort::give_operation(Operation* operation) {
  if (operation->block) blocks_.give({operation->block, operation->range});
  *operation = {};
  free_operations_.push_back(operation);
}

// False: the provider registers no more memory.
bool FabricPort::give_block(Operation& operation) {
  const MessageBlock block = blocks_.take();
  operation.block = block.data;
  operation.range = block.range;
  return block.data != nullptr;
}

void FabricPort::send(FabricUser& user, PeerId peer, std::size_t engine, const WireHeader& header,
                      std::span<const transport::Piece> data, void* operation, bool stays) {
  send_for(&user_of(user), peer, engine, header, data, operation, stays);
}

void FabricPort::send_for(User* user, PeerId peer, std::size_t engine, const WireHeader& header,
                          std::span<const transport::Piece> data, void* operation, bool stays) {
  Operation* const message = take_operation();
  message->kind = Operation::Kind::message;
  message->engine = static_cast<std::uint32_t>(engine);
  message->peer = peer;
  message->user = user;
  message->token = operation;
  message->stays = stays;
  if (user) ++user->under_way;
  if (!give_block(*message)) { // it has failed as any other: its slot cannot be used again
    fail(*message, FI_ENOMEM);
    return give_operation(message);
  }
  std::memcpy(message->block, &header, sizeof header);
  message->bytes = sizeof header;
  for (const transport::Piece& piece : data) {
    std::memcpy(message->block + message->bytes, piece.data, static_cast<std::size_t>(piece.bytes));
    message->bytes += static_cast<std::size_t>(piece.bytes);
  }
  assert(message->bytes <= block_bytes());
  start(message);
}

// Messages of the channels belong to no user, and all go by one engine.
void FabricPort::carry(PeerId peer, const WireHeader& header) { send_for(nullptr, peer, 0, header, {}, nullptr, true); }

void FabricPort::ping(PeerId peer) {
  if (peers_[at(peer)].waiting > 0) return; // what waits finds it out
  WireHeader header;
  header.kind = WireKind::ping;
  short_messages_.name_in(header);
  for (std::size_t engine = 0; engine < engines(); ++engine) send_for(nullptr, peer, engine, header, {}, nullptr, true);
}

void FabricPort::broken_rule(const std::string& rule) {
  if (failure_.empty()) failure_ = rule;
  ++failures_;
}

void FabricPort::lost_by(PeerId peer) {
  if (has_lost(peer)) return;
  if (std::string& text = peers_[at(peer)].failure; text.empty()) text = "it has lost its connection to this process";
  ++failures_;
  has_lost_peers_ = true;
}

void FabricPort::lose(PeerId peer) {
  has_lost_peers_ = true;
  short_messages_.lose(peer);
}

FabricPort::Operation* FabricPort::take_access(FabricUser& user, PeerId peer, std::size_t engine, void* token) {
  Operation* const made = take_operation();
  made->engine = static_cast<std::uint32_t>(engine);
  made->peer = peer;
  made->user = &user_of(user);
  made->token = token;
  ++made->user->under_way;
  return made;
}

void FabricPort::put(FabricUser& user, const Put& put, void* operation) {
  Operation* const made = take_access(user, put.peer, put.engine, operation);
  made->kind = Operation::Kind::put;
  made->put = put;
  start(made);
}

void FabricPort::get(FabricUser& user, const Get& get, void* operation) {
  Operation* const made = take_access(user, get.peer, get.engine, operation);
  made->kind = Operation::Kind::get;
  made->get = get;
  start(made);
}

void FabricPort::change(FabricUser& user, const Atomic& atomic, void* operation) {
  Operation* const made = take_access(user, atomic.peer, atomic.engine, operation);
  made->kind = Operation::Kind::atomic;
  made->atomic = atomic;
  if (!give_block(*made)) {
    fail(*made, FI_ENOMEM);
    return give_operation(made);
  }
  const std::array<std::int64_t, 3> numbers = {atomic.value, atomic.expected, 0};
  std::memcpy(made->block, numbers.data(), sizeof numbers);
  start(made);
}

// Operations to a peer keep their order: one that must wait holds up the later ones to that peer.
void FabricPort::start(Operation* operation) {
  const bool behind = operation->peer >= 0 && peers_[at(operation->peer)].waiting > 0;
  const long code = behind ? -FI_EAGAIN : post(*operation);
  if (code == 0) return;
  if (code != -FI_EAGAIN) {
    fail(*operation, code);
    return give_operation(operation);
  }
  if (operation->peer >= 0) ++peers_[at(operation->peer)].waiting;
  waiting_.push_back(operation);
}

long FabricPort::post(Operation& o) {
  fid_ep* const endpoint = engines_->endpoint(o.engine);
  void* const block_memory = o.range ? fi_mr_desc(o.range->at(o.engine)) : nullptr;
  switch (o.kind) {
  case Operation::Kind::receive: return fi_recv(endpoint, o.block, o.bytes, block_memory, FI_ADDR_UNSPEC, &o.context);
  case Operation::Kind::message:
    return fi_send(endpoint, o.block, o.bytes, block_memory, peers_[at(o.peer)].of_engine[o.engine], &o.context);
  case Operation::Kind::get: return post_get(o);
  case Operation::Kind::atomic: return post_atomic(o);
  case Operation::Kind::put: break;
  }
  iovec local{const_cast<std::byte*>(o.put.data), static_cast<std::size_t>(o.put.bytes)};
  fi_rma_iov remote{o.put.address, static_cast<std::size_t>(o.put.bytes), o.put.key};
  void* source = o.put.source ? fi_mr_desc(o.put.source->at(o.engine)) : nullptr;
  fi_msg_rma message{};
  message.msg_iov = &local;
  message.desc = &source;
  message.iov_count = 1;
  message.addr = peers_[at(o.peer)].of_engine[o.engine];
  message.rma_iov = &remote;
  message.rma_iov_count = 1;
  message.context = &o.context;
  message.data = o.put.flag ? o.put.flag->word() : 0;
  const std::uint64_t flags = (o.put.flag ? FI_REMOTE_CQ_DATA : 0) | (o.put.delivered ? FI_DELIVERY_COMPLETE : 0);
  return fi_writemsg(endpoint, &message, flags | FI_COMPLETION);
}

long FabricPort::post_get(Operation& o) {
  void* const target = o.get.target ? fi_mr_desc(o.get.target->at(o.engine)) : nullptr;
  return fi_read(engines_->endpoint(o.engine), o.get.data, static_cast<std::size_t>(o.get.bytes), target,
                 peers_[at(o.peer)].of_engine[o.engine], o.get.address, o.get.key, &o.context);
}

long FabricPort::post_atomic(Operation& o) {
  fid_ep* const endpoint = engines_->endpoint(o.engine);
  void* const memory = o.range ? fi_mr_desc(o.range->at(o.engine)) : nullptr;
  auto* const numbers = reinterpret_cast<std::int64_t*>(o.block);
  const fi_addr_t peer = peers_[at(o.peer)].of_engine[o.engine];
  std::int64_t* const old = numbers + place_of_old;
  if (o.atomic.kind == Atomic::Kind::add)
    return fi_fetch_atomic(endpoint, numbers + place_of_value, 1, memory, old, memory, peer, o.atomic.address,
                           o.atomic.key, FI_INT64, FI_SUM, &o.context);
  return fi_compare_atomic(endpoint, numbers + place_of_value, 1, memory, numbers + place_of_expected, memory, old,
                           memory, peer, o.atomic.address, o.atomic.key, FI_INT64, FI_CSWAP, &o.context);
}

// Those that waited for room, in order; a peer without room is passed over.
bool FabricPort::start_waiting() {
  bool moved = false;
  std::vector<std::uint64_t> full;
  for (std::size_t turns = waiting_.size(); turns > 0; --turns) {
    Operation* const operation = waiting_.front();
    waiting_.pop_front();
    const std::uint64_t place = static_cast<std::uint64_t>(operation->peer) << 8;
    const bool passed_over = operation->peer >= 0 && std::find(full.begin(), full.end(), place) != full.end();
    const long code = passed_over ? -FI_EAGAIN : post(*operation);
    if (code == -FI_EAGAIN) {
      if (!passed_over) full.push_back(place);
      waiting_.push_back(operation);
      continue;
    }
    moved = true;
    if (operation->peer >= 0) --peers_[at(operation->peer)].waiting;
    if (code == 0) continue;
    fail(*operation, code);
    give_operation(operation);
  }
  return moved;
}

// --- progress

bool FabricPort::progress(FabricUser& user) {
  bool moved = false;
  std::deque<Event>& inbox = user_of(user).inbox;
  while (!inbox.empty()) {
    Event event = std::move(inbox.front());
    inbox.pop_front();
    moved = true;
    switch (event.kind) {
    case Event::Kind::arrived: {
      WireHeader header;
      std::memcpy(&header, event.message.data(), sizeof header);
      user.arrived(header, event.message.data() + sizeof header,
                   static_cast<std::int64_t>(event.message.size() - sizeof header));
      break;
    }
    case Event::Kind::flagged: user.flagged(event.token, event.flag); break;
    case Event::Kind::completed: user.completed(event.token); break;
    }
  }
  for (std::size_t engine = 0; engine < engines(); ++engine) moved |= poll(engine, user);
  if (!waiting_.empty()) moved |= start_waiting();
  return moved;
}

bool FabricPort::poll(std::size_t engine, FabricUser& current) {
  std::array<fi_cq_data_entry, completions_at_once> found;
  const ssize_t count = fi_cq_read(engines_->queue(engine), found.data(), found.size());
  if (count == -FI_EAGAIN || count == -FI_EINTR) return false;
  if (count == -FI_EAVAIL) return take_error(engine, current), true;
  if (count < 0) { // the queue itself is broken
    if (failure_.empty()) failure_ = library().text(count);
    return ++failures_, false;
  }
  for (ssize_t i = 0; i < count; ++i) {
    const fi_cq_data_entry& entry = found[static_cast<std::size_t>(i)];
    // A target gets the data of a put without an operation of its own. No message here has data beside its bytes.
    if ((entry.flags & FI_REMOTE_CQ_DATA) != 0) {
      take_flag(static_cast<std::uint32_t>(entry.data), current);
      continue;
    }
    auto* const operation = static_cast<Operation*>(entry.op_context);
    if (!operation) continue;
    if (operation->kind == Operation::Kind::receive) {
      take_message(*operation, entry.len, current);
      start(operation);
    } else {
      finish(operation, current);
    }
  }
  return true;
}

void FabricPort::take_message(Operation& operation, std::size_t bytes, FabricUser& current) {
  if (bytes < sizeof(WireHeader)) return;
  WireHeader header;
  std::memcpy(&header, operation.block, sizeof header);
  if (header.kind == WireKind::channel) return short_messages_.take(header);
  if (header.kind == WireKind::ping) return short_messages_.answer_ping(header);
  const bool is_eager = header.kind == WireKind::eager;
  const std::optional<PeerId> sender = is_eager ? short_messages_.note_arrival(header) : std::nullopt;
  if (is_eager && !sender) return;
  const auto found = user_of_network_.find(header.network);
  if (found == user_of_network_.end()) { // of one that has left
    if (is_eager) short_messages_.empty(*sender, header.number, nullptr);
    return;
  }
  if (found->second->self == &current)
    return current.arrived(header, operation.block + sizeof header, static_cast<std::int64_t>(bytes - sizeof header));
  found->second->inbox.push_back(
      {Event::Kind::arrived, nullptr, {}, std::vector<std::byte>(operation.block, operation.block + bytes)});
}

void FabricPort::take_flag(std::uint32_t word, FabricUser& current) {
  const FlagData flag = FlagData::of(word);
  if (flag.number >= numbers_.size() || !numbers_[flag.number].user) return;
  const Number& number = numbers_[flag.number];
  if (number.user->self == &current) return current.flagged(number.of_number, flag);
  number.user->inbox.push_back({Event::Kind::flagged, number.of_number, flag, {}});
}

void FabricPort::finish(Operation* operation, FabricUser& current) {
  User* const user = operation->user;
  void* const token = operation->token;
  if (user && operation->kind == Operation::Kind::atomic)
    std::memcpy(operation->atomic.old, operation->block + place_of_old * sizeof(std::int64_t), sizeof(std::int64_t));
  give_operation(operation);
  if (!user) return;
  --user->under_way;
  if (!token) return;
  if (user->self == &current) return current.completed(token);
  user->inbox.push_back({Event::Kind::completed, token, {}, {}});
}

void FabricPort::take_error(std::size_t engine, FabricUser&) {
  fi_cq_err_entry error{};
  if (fi_cq_readerr(engines_->queue(engine), &error, 0) < 0) return;
  auto* const operation = static_cast<Operation*>(error.op_context);
  if (!operation) {
    if (failure_.empty()) failure_ = library().text(error.err);
    ++failures_;
    return;
  }
  if (operation->kind == Operation::Kind::receive) { // of a connection that broke while it took a message
    if (error.err != FI_ECANCELED) start(operation);
    return;
  }
  fail(*operation, error.err);
  give_operation(operation);
}

// Its regions are named PID:UID:INDEX.
void FabricPort::remove_remains(PeerId peer) {
  if (provider() != "shm") return;
  const std::string begins = fmt::format("{}:{}:", process(peer).id, geteuid());
  std::error_code ignored;
  std::vector<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", ignored))
    if (entry.path().filename().string().starts_with(begins)) found.push_back(entry.path());
  for (const std::filesystem::path& path : found) std::filesystem::remove(path, ignored);
}

void FabricPort::fail(Operation& operation, long code) {
  ++failures_;
  if (operation.user) --operation.user->under_way;
  std::string& text = operation.peer >= 0 ? peers_[at(operation.peer)].failure : failure_;
  if (text.empty()) text = library().text(code);
  if (operation.kind == Operation::Kind::message) lose(operation.peer); // other operations may be refused, too
}

} // namespace kumihimo::fabric
