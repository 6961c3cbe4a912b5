#include "shared_memory/channel_sender.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace kumihimo::shared_memory {
namespace {

// Bytes of the next chunk of a message with `left` bytes to go: whole elements, unless an element is longer than a
// slot.
std::int64_t chunk_bytes(const RingShape& shape, std::int64_t left, std::int64_t element_bytes) {
  if (left <= shape.slot_bytes) return left;
  return element_bytes > shape.slot_bytes ? shape.slot_bytes : shape.slot_bytes / element_bytes * element_bytes;
}

} // namespace

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
  const Offer offered_message{ticket, static_cast<std::uint64_t>(message.piece_count)};
  std::memcpy(header.small, &offered_message, sizeof offered_message);
  std::byte* to = offered_message.pieces == 1 ? header.small + sizeof offered_message : memory_.slot(filled_);
  for (const transport::Piece& piece : message.pieces()) {
    const RemotePiece address = remote(piece);
    std::memcpy(to, &address, sizeof address);
    to += sizeof address;
  }
  header.bytes = offered;
  header.sequence.store(++filled_, std::memory_order_release);
}

// The answers to offers: the receiver has copied the message, or it cannot, and the message goes through slots.
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
    offered_from_bytes_ = never_offered;
    if (waiting_.empty()) front_ = {};
    waiting_.push_back(&message);
  }
  taken_ &= ~turned;
  return true;
}

// Marks the next slot, which the receiver reads last. If the ring is full, that is the first slot that it has not read.
// What it reads of this process's memory from now on may be garbage.
void ChannelSender::give_up() {
  memory_.revoke->revoked.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(
      std::memory_order_seq_cst); // before anything that the caller writes; pairs with the fence in read_on()
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
    if (now == sizeof(double)) // an element of a scattered message, too short for a call
      std::memcpy(to, piece.data + position.done_in_piece, sizeof(double));
    else
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

} // namespace kumihimo::shared_memory
