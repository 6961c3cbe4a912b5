#include "shared_memory/channel_receiver.hpp"

#include "transport/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace kumihimo::shared_memory {
namespace {

// The staging buffer of single copies that are reduced or scattered: it stays in the first or second cache.
constexpr std::int64_t staging_bytes = 32768;
constexpr std::int64_t read_at_once_bytes = 4 << 20; // by one progress(): about a millisecond
// start() takes chunks up to this length at once. Longer ones wait for progress(): in an exchange, a rank that copied a
// long message before it starts its own would make the other rank wait as long.
constexpr std::int64_t short_bytes = 4096;
std::int64_t whole_elements(std::int64_t bytes, std::int64_t element_bytes) {
  return std::max(element_bytes, bytes / element_bytes * element_bytes);
}

} // namespace

void ChannelReceiver::start(transport::ReceiveRequest& message) {
  if (!unexpected_.empty() && take_unexpected(message)) return;
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
    if (header->bytes == offered ? reading_.has_value() : static_cast<std::int64_t>(header->bytes) > most_bytes) break;
    if (!current_ && !current_unexpected_ && choose(*header) == Choice::leave) break;
    header->bytes == offered ? take_offer(*header) : take_chunk(*header);
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
    error_ = transport::failed_elsewhere();
  return nullptr;
}

void ChannelReceiver::give_up() { memory_.acknowledge->consumed.store(given_up, std::memory_order_release); }

// At the first chunk of a message: finds its receiver.
ChannelReceiver::Choice ChannelReceiver::choose(const SlotHeader& header) {
  for (auto it = expected_.begin(); it != expected_.end(); ++it) {
    if (channel_key((*it)->key) != header.key) continue;
    transport::ReceiveRequest* receiver = *it;
    if (!fits(*receiver, header)) return Choice::leave; // the error ends the run
    expected_.erase(it);
    if (receiver->element_bytes() <= memory_.shape.slot_bytes || header.bytes == offered)
      current_ = receiver;
    else
      begin_unexpected(header).receiver = receiver;
    return Choice::deliver;
  }
  if (expected_.empty()) return Choice::leave;
  begin_unexpected(header);
  return Choice::copy_to_heap;
}

// Whether the message is the one that the receiver describes.
bool ChannelReceiver::fits(const transport::ReceiveRequest& receiver, const SlotHeader& first_chunk) {
  const auto left = static_cast<std::int64_t>(first_chunk.left), bytes = static_cast<std::int64_t>(first_chunk.bytes);
  if (left != receiver.bytes) [[unlikely]]
    error_ = wrong_length(receiver, left);
  else if (first_chunk.bytes != offered && bytes != left && receiver.element_bytes() <= memory_.shape.slot_bytes &&
           bytes % receiver.element_bytes() != 0)
    error_ = wrong_elements(receiver, bytes);
  else
    return true;
  return false;
}

ChannelReceiver::Unexpected& ChannelReceiver::begin_unexpected(const SlotHeader& first_chunk) {
  current_unexpected_ = &unexpected_.emplace_back();
  current_unexpected_->key = first_chunk.key;
  current_unexpected_->bytes = static_cast<std::int64_t>(first_chunk.left);
  if (first_chunk.bytes != offered) current_unexpected_->data.reserve(first_chunk.left);
  return *current_unexpected_;
}

void ChannelReceiver::take_chunk(const SlotHeader& header) {
  const auto bytes = static_cast<std::int64_t>(header.bytes);
  const bool last = header.left == header.bytes;
  const std::byte* data = bytes <= inline_bytes ? header.small : memory_.slot(emptied_);
  if (current_) {
    if (bytes > 0) current_->take(data, bytes);
  } else {
    current_unexpected_->data.insert(current_unexpected_->data.end(), data, data + bytes);
  }
  release_slot();
  if (!last) return;
  if (current_)
    current_->complete(), current_ = nullptr;
  else
    finish_unexpected();
}

// Without a receive yet, only the address of the offered message is kept.
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
    current_unexpected_->ticket = offer.ticket;
    current_unexpected_->pieces = std::move(pieces);
    finish_unexpected();
  }
}

void ChannelReceiver::read(transport::ReceiveRequest& message, std::vector<RemotePiece> pieces, std::uint64_t ticket) {
  while (reading_) read_on(); // one at a time
  if (error_) return expected_.push_back(&message);
  const std::int64_t element_bytes = message.element_bytes();
  if (!message.direct())
    staging_.resize(std::max(staging_.size(), static_cast<std::size_t>(whole_elements(staging_bytes, element_bytes))));
  Reading& reading = reading_.emplace();
  reading.message = &message, reading.ticket = ticket, reading.place = message.direct();
  reading.pieces = std::move(pieces);
  reading.walk = RemoteReader(sender_, reading.pieces);
}

// Copies a part of the message, so that a long one holds up neither the other messages of this rank nor a thread that
// waits for a lock of the caller.
void ChannelReceiver::read_on() {
  Reading& reading = *reading_;
  const int code = copy_some(reading);
  // A sender that gives up says so before it changes its memory; pairs with the fence in give_up().
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (memory_.revoke->revoked.load(std::memory_order_relaxed) != 0 || code == ESRCH) {
    error_ = transport::failed_elsewhere();
  } else if (code != 0 && reading.done > 0 && !reading.place) { // a reduction cannot be repeated
    error_ = failed(fmt::format("cannot read {} bytes of another rank's memory", reading.message->bytes),
                    std::strerror(code));
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

// Returns errno, or 0.
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
  AcknowledgeLine& line = *memory_.acknowledge; // this end alone writes these two
  const std::uint64_t before = line.refused.load(std::memory_order_relaxed);
  line.refused.store(refused ? before | bit : before & ~bit, std::memory_order_relaxed);
  line.answered.store(line.answered.load(std::memory_order_relaxed) ^ bit, std::memory_order_release);
}

void ChannelReceiver::finish_unexpected() {
  Unexpected& message = *current_unexpected_;
  current_unexpected_ = nullptr;
  message.whole = true;
  if (!message.receiver) return;
  message.receiver->take(message.data.data(), static_cast<std::int64_t>(message.data.size()));
  message.receiver->complete();
  unexpected_.remove_if([&](const Unexpected& other) { return &other == &message; });
}

// The unexpected message with this key, if there is one: taken now, or when its last chunk has come.
bool ChannelReceiver::take_unexpected(transport::ReceiveRequest& message) {
  const ChannelKey key = channel_key(message.key);
  for (auto it = unexpected_.begin(); it != unexpected_.end(); ++it) {
    if (it->receiver || it->key != key) continue;
    if (it->bytes != message.bytes) {
      error_ = wrong_length(message, it->bytes);
      expected_.push_back(&message);
      return true;
    }
    if (!it->pieces.empty()) {
      Unexpected kept = std::move(*it);
      unexpected_.erase(it);
      read(message, std::move(kept.pieces), kept.ticket);
      return true;
    }
    it->receiver = &message;
    if (!it->whole) return true;
    if (!it->data.empty()) message.take(it->data.data(), static_cast<std::int64_t>(it->data.size()));
    message.complete();
    unexpected_.erase(it);
    return true;
  }
  return false;
}

std::int64_t ChannelReceiver::unexpected_bytes() const {
  std::int64_t bytes = 0;
  for (const Unexpected& message : unexpected_) bytes += static_cast<std::int64_t>(message.data.capacity());
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
