#include "shared_memory/channel.hpp"

#include "transport/errors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cerrno>
#include <cstring>
#include <new>
#include <utility>

namespace kumihimo::shared_memory {
namespace {

// The next chunk of a message that has `left` bytes to go: of whole elements, unless one element is larger than a slot.
std::int64_t chunk_bytes(const RingShape& shape, std::int64_t left, std::int64_t element_bytes) {
  if (left <= shape.slot_bytes) return left;
  return element_bytes > shape.slot_bytes ? shape.slot_bytes : shape.slot_bytes / element_bytes * element_bytes;
}

// Through which what is reduced or scattered is read: it stays in the first cache or the second.
constexpr std::int64_t staging_bytes = 32768;
constexpr std::int64_t read_at_once_bytes = 4 << 20; // in one progress(): a millisecond
// What start() takes at once. The rest waits for progress(): who copies a long message before its own is on its way
// lets the other rank of an exchange wait for as long.
constexpr std::int64_t short_bytes = 4096;
std::int64_t whole_elements(std::int64_t bytes, std::int64_t element_bytes) {
  return std::max(element_bytes, bytes / element_bytes * element_bytes);
}

} // namespace

ChannelKey channel_key(const transport::MessageKey& key) {
  const auto low = [](auto value) { return static_cast<std::uint64_t>(static_cast<std::uint32_t>(value)); };
  return {low(key.instance) << 32 | low(key.segment),
          low(key.lane.value) << 33 | low(key.ordinal) << 1 | (key.signal ? 1u : 0u)};
}

ChannelMemory channel_at(std::byte* start, RingShape shape) {
  assert(reinterpret_cast<std::uintptr_t>(start) % cache_line_bytes == 0);
  assert(std::has_single_bit(static_cast<std::uint64_t>(shape.slots)));
  assert(shape.slot_bytes < static_cast<std::int64_t>(elsewhere));
  ChannelMemory memory;
  memory.acknowledge = reinterpret_cast<AcknowledgeLine*>(start);
  memory.revoke = reinterpret_cast<RevokeLine*>(start + cache_line_bytes);
  memory.headers = reinterpret_cast<SlotHeader*>(start + 2 * cache_line_bytes);
  memory.data = start + cache_line_bytes * (2 + shape.slots);
  memory.shape = shape;
  return memory;
}

void clear(const ChannelMemory& memory) {
  new (memory.acknowledge) AcknowledgeLine{};
  new (memory.revoke) RevokeLine{};
  for (std::int64_t i = 0; i < memory.shape.slots; ++i) new (&memory.headers[i]) SlotHeader{};
}

// --- sender

void ChannelSender::start(transport::SendRequest& message) {
  if (waiting_.empty()) {
    front_ = {};
    if (write(message, front_)) return;
  }
  waiting_.push_back(&message);
}

bool ChannelSender::progress() {
  const bool answered = taken_ != 0 && take_answers();
  const std::uint64_t before = filled_;
  while (!waiting_.empty() && write(*waiting_.front(), front_)) {
    waiting_.pop_front();
    front_ = {};
  }
  return answered || filled_ != before;
}

bool ChannelSender::has_room() {
  const auto slots = static_cast<std::uint64_t>(memory_.shape.slots);
  if (has_lost_peer()) return false;
  if (filled_ - known_consumed_ < slots) return true;
  known_consumed_ = memory_.acknowledge->consumed.load(std::memory_order_acquire);
  return !has_lost_peer() && filled_ - known_consumed_ < slots;
}

bool ChannelSender::write(transport::SendRequest& message, Position& position) {
  do {
    if (!has_room()) return false;
    if (message.allows_single_copy && position.done == 0 && may_offer(message)) return offer(message), true;
    write_chunk(message, position);
  } while (position.done < message.bytes);
  message.complete();
  return true;
}

bool ChannelSender::may_offer(const transport::SendRequest& message) const {
  const std::int64_t pieces = message.piece_count;
  return message.bytes >= offered_from_bytes_ && ~taken_ != 0 &&
         (pieces == 1 || pieces * static_cast<std::int64_t>(sizeof(RemotePiece)) <= memory_.shape.slot_bytes);
}

void ChannelSender::offer(transport::SendRequest& message) {
  const auto remote = [](const transport::Piece& piece) {
    return RemotePiece{reinterpret_cast<std::uintptr_t>(piece.data), piece.bytes};
  };
  const auto ticket = static_cast<std::uint64_t>(std::countr_one(taken_));
  taken_ |= std::uint64_t{1} << ticket;
  offered_[ticket] = &message;
  SlotHeader& header = begin_slot(message, message.bytes);
  const Offer told{ticket, static_cast<std::uint64_t>(message.piece_count)};
  std::memcpy(header.small, &told, sizeof told);
  std::byte* to = told.pieces == 1 ? header.small + sizeof told : memory_.slot(filled_);
  for (const transport::Piece& piece : message.pieces()) {
    const RemotePiece lies = remote(piece);
    std::memcpy(to, &lies, sizeof lies);
    to += sizeof lies;
  }
  header.bytes = elsewhere;
  header.sequence.store(++filled_, std::memory_order_release);
}

// Of the messages that the receiver was to read: it has; or it cannot, and they are sent again, in slots.
bool ChannelSender::take_answers() {
  const std::uint64_t answered = memory_.acknowledge->answered.load(std::memory_order_acquire);
  if (memory_.acknowledge->consumed.load(std::memory_order_relaxed) == given_up) known_consumed_ = given_up;
  const std::uint64_t turned = answered ^ known_answered_;
  if (turned == 0) return false;
  known_answered_ = answered;
  const std::uint64_t refused = memory_.acknowledge->refused.load(std::memory_order_relaxed);
  for (std::uint64_t left = turned; left != 0; left &= left - 1) {
    const auto ticket = static_cast<std::size_t>(std::countr_zero(left));
    transport::SendRequest& message = *offered_[ticket];
    if ((refused >> ticket & 1) == 0) {
      message.complete();
      continue;
    }
    offered_from_bytes_ = all_copied;
    if (waiting_.empty()) front_ = {};
    waiting_.push_back(&message);
  }
  taken_ &= ~turned;
  return true;
}

// In the next slot, which the receiver looks at last: where the ring is full, in place of the first that it has not
// read. What it reads of this process's memory from here on may be anything.
void ChannelSender::give_up() {
  memory_.revoke->revoked.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(
      std::memory_order_seq_cst); // what the caller writes stays behind it; its partner is in read()
  memory_.header(filled_).sequence.store(given_up, std::memory_order_release);
}

SlotHeader& ChannelSender::begin_slot(const transport::SendRequest& message, std::int64_t left) {
  SlotHeader& header = memory_.header(filled_);
  header.key = channel_key(message.key);
  header.left = static_cast<std::uint64_t>(left);
  return header;
}

void ChannelSender::write_chunk(transport::SendRequest& message, Position& position) {
  SlotHeader& header = begin_slot(message, message.bytes - position.done);
  const std::int64_t bytes = chunk_bytes(memory_.shape, message.bytes - position.done, message.element_bytes);
  std::byte* to = bytes <= inline_bytes ? header.small : memory_.slot(filled_);
  for (std::int64_t left = bytes; left > 0;) {
    const transport::Piece& piece = message.pieces()[static_cast<std::size_t>(position.piece)];
    const std::int64_t now = std::min(left, piece.bytes - position.done_in_piece);
    copy_(piece.data + position.done_in_piece, to, now);
    to += now;
    left -= now;
    position.done_in_piece += now;
    if (position.done_in_piece == piece.bytes) ++position.piece, position.done_in_piece = 0;
  }
  header.bytes = static_cast<std::uint64_t>(bytes);
  position.done += bytes;
  header.sequence.store(++filled_, std::memory_order_release);
}

// --- receiver

void ChannelReceiver::start(transport::ReceiveRequest& message) {
  if (!aside_.empty() && take_from_aside(message)) return;
  expected_.push_back(&message);
  take(short_bytes);
}

bool ChannelReceiver::progress() {
  bool moved = false;
  if (reading_) {
    read_on();
    if (reading_ || error_) return true;
    moved = true;
  }
  return take(memory_.shape.slot_bytes) || moved;
}

bool ChannelReceiver::take(std::int64_t most_bytes) {
  bool moved = false;
  while (SlotHeader* header = filled_slot()) {
    if (header->bytes == elsewhere ? reading_.has_value() : static_cast<std::int64_t>(header->bytes) > most_bytes)
      break;
    if (!current_ && !current_aside_ && choose(*header) == Choice::leave) break;
    header->bytes == elsewhere ? take_offer(*header) : take_chunk(*header);
    moved = true;
    if (reading_ || error_) break;
  }
  return moved;
}

SlotHeader* ChannelReceiver::filled_slot() {
  SlotHeader& header = memory_.header(emptied_);
  const std::uint64_t sequence = header.sequence.load(std::memory_order_acquire);
  if (sequence == emptied_ + 1) return &header;
  if (sequence == given_up && busy() && !error_) [[unlikely]]
    error_ = transport::failed_elsewhere("the messages of every rank of the node");
  return nullptr;
}

void ChannelReceiver::give_up() { memory_.acknowledge->consumed.store(given_up, std::memory_order_release); }

// At the first chunk of a message: whose is it?
ChannelReceiver::Choice ChannelReceiver::choose(const SlotHeader& header) {
  for (auto it = expected_.begin(); it != expected_.end(); ++it) {
    if (channel_key((*it)->key) != header.key) continue;
    transport::ReceiveRequest* receiver = *it;
    if (!fits(*receiver, header)) return Choice::leave; // and expected for ever
    expected_.erase(it);
    if (receiver->element_bytes() <= memory_.shape.slot_bytes || header.bytes == elsewhere)
      current_ = receiver;
    else
      begin_aside(header).receiver = receiver;
    return Choice::deliver;
  }
  if (expected_.empty()) return Choice::leave;
  begin_aside(header);
  return Choice::set_aside;
}

// Whether this is the message that the receiver describes.
bool ChannelReceiver::fits(const transport::ReceiveRequest& receiver, const SlotHeader& first_chunk) {
  const auto left = static_cast<std::int64_t>(first_chunk.left), bytes = static_cast<std::int64_t>(first_chunk.bytes);
  if (left != receiver.bytes) [[unlikely]]
    error_ = wrong_length(receiver, left);
  else if (first_chunk.bytes != elsewhere && bytes != left && receiver.element_bytes() <= memory_.shape.slot_bytes &&
           bytes % receiver.element_bytes() != 0)
    error_ = wrong_elements(receiver, bytes);
  else
    return true;
  return false;
}

ChannelReceiver::Aside& ChannelReceiver::begin_aside(const SlotHeader& first_chunk) {
  current_aside_ = &aside_.emplace_back();
  current_aside_->key = first_chunk.key;
  current_aside_->bytes = static_cast<std::int64_t>(first_chunk.left);
  if (first_chunk.bytes != elsewhere) current_aside_->data.reserve(first_chunk.left);
  return *current_aside_;
}

void ChannelReceiver::take_chunk(const SlotHeader& header) {
  const auto bytes = static_cast<std::int64_t>(header.bytes);
  const bool last = header.left == header.bytes;
  const std::byte* data = bytes <= inline_bytes ? header.small : memory_.slot(emptied_);
  if (current_) {
    if (bytes > 0) current_->take(data, bytes);
  } else {
    current_aside_->data.insert(current_aside_->data.end(), data, data + bytes);
  }
  release_slot();
  if (!last) return;
  if (current_)
    current_->complete(), current_ = nullptr;
  else
    finish_aside();
}

// Of a message that nobody asks for yet only where it lies is set aside.
void ChannelReceiver::take_offer(const SlotHeader& header) {
  Offer offer;
  std::memcpy(&offer, header.small, sizeof offer);
  std::vector<RemotePiece> pieces(offer.pieces);
  std::memcpy(pieces.data(), offer.pieces == 1 ? header.small + sizeof offer : memory_.slot(emptied_),
              offer.pieces * sizeof(RemotePiece));
  release_slot();
  if (current_) {
    read(*std::exchange(current_, nullptr), std::move(pieces), offer.ticket);
  } else {
    current_aside_->ticket = offer.ticket;
    current_aside_->pieces = std::move(pieces);
    finish_aside();
  }
}

void ChannelReceiver::read(transport::ReceiveRequest& message, std::vector<RemotePiece> pieces, std::uint64_t ticket) {
  while (reading_) read_on(); // one at a time: of several that came before their turn
  if (error_) return expected_.push_back(&message);
  const std::int64_t element_bytes = message.element_bytes();
  if (!message.direct())
    staging_.resize(std::max(staging_.size(), static_cast<std::size_t>(whole_elements(staging_bytes, element_bytes))));
  Reading& reading = reading_.emplace();
  reading.message = &message, reading.ticket = ticket, reading.place = message.direct();
  reading.pieces = std::move(pieces);
  reading.walk = RemoteReader(sender_, reading.pieces);
}

// Some of the message that is being read, so that a long one holds up neither the others of this rank nor who waits for
// a lock that the caller has.
void ChannelReceiver::read_on() {
  Reading& reading = *reading_;
  const int code = copy_some(reading);
  // What the sender does with its memory after it has given up, it does after it has said so.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (memory_.revoke->revoked.load(std::memory_order_relaxed) != 0 || code == ESRCH) {
    error_ = transport::failed_elsewhere("the messages of every rank of the node");
  } else if (code != 0 && reading.done > 0 && !reading.place) { // what was reduced cannot be again
    error_ =
        failed(fmt::format("to read {} bytes of another rank's memory", reading.message->bytes), std::strerror(code));
  } else if (code != 0) {
    answer(reading.ticket, true);
  } else if (reading.done == reading.message->bytes) {
    answer(reading.ticket, false);
    reading.message->complete();
    return reading_.reset();
  } else {
    return;
  }
  expected_.push_back(reading.message);
  reading_.reset();
}

// The system's number of an error.
int ChannelReceiver::copy_some(Reading& reading) {
  transport::ReceiveRequest& message = *reading.message;
  const std::int64_t left = message.bytes - reading.done;
  if (reading.place) {
    const std::int64_t now = std::min(left, read_at_once_bytes);
    if (const int code = reading.walk.read(reading.place + reading.done, now); code != 0) return code;
    reading.done += now;
    return 0;
  }
  const std::int64_t chunk = whole_elements(staging_bytes, message.element_bytes());
  const std::int64_t until = reading.done + std::min(left, std::max(chunk, read_at_once_bytes / chunk * chunk));
  while (reading.done < until) {
    const std::int64_t now = std::min(until - reading.done, chunk);
    if (const int code = reading.walk.read(staging_.data(), now); code != 0) return code;
    message.take(staging_.data(), now);
    reading.done += now;
  }
  return 0;
}

void ChannelReceiver::answer(std::uint64_t ticket, bool refused) {
  const std::uint64_t bit = std::uint64_t{1} << ticket;
  AcknowledgeLine& line = *memory_.acknowledge; // nobody else writes these two
  const std::uint64_t before = line.refused.load(std::memory_order_relaxed);
  line.refused.store(refused ? before | bit : before & ~bit, std::memory_order_relaxed);
  line.answered.store(line.answered.load(std::memory_order_relaxed) ^ bit, std::memory_order_release);
}

void ChannelReceiver::finish_aside() {
  Aside& aside = *current_aside_;
  current_aside_ = nullptr;
  aside.whole = true;
  if (!aside.receiver) return;
  aside.receiver->take(aside.data.data(), static_cast<std::int64_t>(aside.data.size()));
  aside.receiver->complete();
  aside_.remove_if([&](const Aside& other) { return &other == &aside; });
}

// The message set aside under this key, if there is one: taken at once, or when its last chunk has come.
bool ChannelReceiver::take_from_aside(transport::ReceiveRequest& message) {
  const ChannelKey key = channel_key(message.key);
  for (auto it = aside_.begin(); it != aside_.end(); ++it) {
    if (it->receiver || it->key != key) continue;
    if (it->bytes != message.bytes) {
      error_ = wrong_length(message, it->bytes);
      expected_.push_back(&message);
      return true;
    }
    if (!it->pieces.empty()) {
      Aside offered = std::move(*it);
      aside_.erase(it);
      read(message, std::move(offered.pieces), offered.ticket);
      return true;
    }
    it->receiver = &message;
    if (!it->whole) return true;
    if (!it->data.empty()) message.take(it->data.data(), static_cast<std::int64_t>(it->data.size()));
    message.complete();
    aside_.erase(it);
    return true;
  }
  return false;
}

std::int64_t ChannelReceiver::set_aside_room_bytes() const {
  std::int64_t bytes = 0;
  for (const Aside& aside : aside_) bytes += static_cast<std::int64_t>(aside.data.capacity());
  return bytes;
}

void ChannelReceiver::release_slot() {
  ++emptied_;
  const auto quarter = std::max<std::uint64_t>(1, static_cast<std::uint64_t>(memory_.shape.slots) / 4);
  if (emptied_ - acknowledged_ < quarter) return;
  acknowledged_ = emptied_;
  memory_.acknowledge->consumed.store(emptied_, std::memory_order_release);
}

} // namespace kumihimo::shared_memory
