#include "loopback/put_messages.hpp"

#include "transport/message.hpp"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>
#include <utility>

namespace kumihimo::transport {
namespace {

bool same_message(const MessageKey& a, const MessageKey& b) {
  return a.instance == b.instance && a.peer == b.peer && a.lane == b.lane && a.segment == b.segment &&
         a.ordinal == b.ordinal && a.signal == b.signal;
}

} // namespace

PutMessages::PutMessages(Transport& below, PutOptions options)
    : below_(below), memory_(*below.remote_memory()), options_(options) {}

PutMessages::~PutMessages() {
  for (const auto& [peer, from] : incoming_) memory_.deregister_memory(from.key);
}

Status PutMessages::prepare(const Demands& demands) {
  if (Status status = below_.prepare(demands); !status) return status;
  const std::int64_t bytes = options_.slots * stride();
  for (const Rank peer : demands.peers) {
    if (incoming_.contains(peer)) continue;
    Incoming from;
    from.ring.reset(new (std::nothrow) std::byte[static_cast<std::size_t>(bytes)]);
    if (!from.ring) return failed("out of memory", std::to_string(bytes) + " bytes for the slots of a peer");
    const Result<MemoryKey> key = memory_.register_memory(from.ring.get(), bytes);
    if (!key) return key.error();
    from.key = *key;
    memory_.grant(peer, options_.channel, from.key, options_.slots);
    incoming_.emplace(peer, std::move(from));
  }
  return Nothing{};
}

Transport::Progress PutMessages::progress() {
  if (error_) return Progress::failed;
  const Progress below = below_.progress();
  if (below == Progress::failed) return below;
  bool moved = below == Progress::moved;
  for (auto& [peer, to] : outgoing_) moved |= advance(peer, to);
  for (auto& [peer, from] : incoming_) moved |= drain(peer, from);
  if (error_) return Progress::failed;
  return moved ? Progress::moved : Progress::nothing;
}

// Nobody else may touch the messages any more: not even for an error that this rank alone knows.
void PutMessages::abandon(const Error& reason) {
  if (!error_) error_ = reason;
  expected_.clear();
  below_.abandon(reason);
}

// --- sender

void PutMessages::send(SendRequest& message) { outgoing_[message.key.peer].queue.push_back(&message); }

bool PutMessages::advance(Rank peer, Outgoing& to) {
  bool moved = false;
  for (; to.ended < to.begun; ++to.ended) {
    Outgoing::Slot& slot = to.slots[static_cast<std::size_t>(to.ended % options_.slots)];
    if (slot.open > 0) break;
    if (slot.completes) slot.completes->complete();
    moved = true;
  }
  if (!to.key.exists()) {
    to.key = memory_.credits(peer, options_.channel).key;
    if (!to.key.exists()) return moved;
    to.slots.resize(static_cast<std::size_t>(options_.slots));
  }
  for (; !to.queue.empty() && to.begun - to.ended < options_.slots; moved = true) put_chunk(peer, to);
  return moved;
}

// The next chunk of the first message: its pieces, then the header with the flag.
void PutMessages::put_chunk(Rank peer, Outgoing& to) {
  SendRequest& message = *to.queue.front();
  Outgoing::Slot& slot = to.slots[static_cast<std::size_t>(to.begun % options_.slots)];
  const std::int64_t left = message.bytes - to.done, element = message.element_bytes;
  const std::int64_t most =
      element > options_.slot_bytes ? options_.slot_bytes : options_.slot_bytes / element * element;
  PutRequest put;
  put.target = peer;
  put.channel = options_.channel;
  put.key = to.key;
  put.slot = to.begun;
  put.open = &slot.open;
  const std::int64_t start = to.begun % options_.slots * stride();
  slot.header = {message.key, message.bytes, to.done, std::min(left, most)};
  slot.puts.clear();
  put.offset = start + static_cast<std::int64_t>(sizeof(Header));
  for (std::int64_t wanted = slot.header.bytes; wanted > 0;) {
    const Piece& piece = message.pieces()[to.piece];
    put.data = piece.data + to.done_in_piece;
    put.bytes = std::min(wanted, piece.bytes - to.done_in_piece);
    slot.puts.push_back(put);
    put.offset += put.bytes;
    wanted -= put.bytes;
    to.done_in_piece += put.bytes;
    if (to.done_in_piece == piece.bytes) ++to.piece, to.done_in_piece = 0;
  }
  to.done += slot.header.bytes;
  slot.completes = to.done == message.bytes ? &message : nullptr;
  if (slot.completes) to.queue.pop_front(), to.done = 0, to.piece = 0, to.done_in_piece = 0;
  put.offset = start;
  put.data = reinterpret_cast<const std::byte*>(&slot.header);
  put.bytes = sizeof(Header);
  put.flag = true;
  slot.puts.push_back(put);
  slot.open = static_cast<std::int32_t>(slot.puts.size());
  ++to.begun;
  for (PutRequest& request : slot.puts) memory_.put(request);
}

// --- receiver

void PutMessages::receive(ReceiveRequest& message) {
  for (auto it = unexpected_.begin(); it != unexpected_.end(); ++it) {
    if (it->receiver || !same_message(it->key, message.key)) continue;
    it->receiver = &message;
    if (it->whole) finish(*it);
    return;
  }
  expected_.push_back(&message);
}

bool PutMessages::drain(Rank peer, Incoming& from) {
  bool moved = false;
  for (const std::int64_t filled = memory_.flags(peer, options_.channel); from.emptied < filled; moved = true) {
    const std::byte* const slot = from.ring.get() + from.emptied % options_.slots * stride();
    Header header;
    std::memcpy(&header, slot, sizeof header);
    header.key.peer = peer; // the sender's key names the receiver
    if (!take(from, header, slot + sizeof header)) return moved;
    ++from.emptied;
    memory_.grant(peer, options_.channel, from.key, 1);
  }
  return moved;
}

// False: it is not the message that its receiver expects.
bool PutMessages::take(Incoming& from, const Header& header, const std::byte* data) {
  const bool last = header.first + header.bytes == header.message_bytes;
  if (header.first == 0) {
    const auto found = std::find_if(expected_.begin(), expected_.end(),
                                    [&](const ReceiveRequest* r) { return same_message(r->key, header.key); });
    ReceiveRequest* const receiver = found == expected_.end() ? nullptr : *found;
    if (receiver) expected_.erase(found);
    const bool in_elements = receiver && receiver->element_bytes() <= options_.slot_bytes;
    if (receiver && receiver->bytes != header.message_bytes) {
      error_ = wrong_length(*receiver, header.message_bytes);
    } else if (in_elements && header.bytes % receiver->element_bytes() != 0) {
      error_ = wrong_elements(*receiver, header.bytes);
    } else if (in_elements) {
      from.current = receiver;
    } else {
      from.unexpected = &unexpected_.emplace_back();
      from.unexpected->key = header.key;
      from.unexpected->receiver = receiver;
    }
    if (error_) return abandon(*error_), false;
  }
  if (from.current) {
    if (header.bytes > 0) from.current->take(data, header.bytes);
    if (last) std::exchange(from.current, nullptr)->complete();
    return true;
  }
  std::vector<std::byte>& all = from.unexpected->data;
  all.insert(all.end(), data, data + header.bytes);
  if (!last) return true;
  Unexpected& message = *std::exchange(from.unexpected, nullptr);
  message.whole = true;
  if (message.receiver) finish(message);
  return !error_;
}

void PutMessages::finish(Unexpected& message) {
  ReceiveRequest& receiver = *message.receiver;
  const auto bytes = static_cast<std::int64_t>(message.data.size());
  if (bytes != receiver.bytes) return abandon(wrong_length(receiver, bytes));
  if (bytes > 0) receiver.take(message.data.data(), bytes);
  receiver.complete();
  unexpected_.remove_if([&](const Unexpected& other) { return &other == &message; });
}

} // namespace kumihimo::transport
