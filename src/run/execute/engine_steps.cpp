// Starting the steps of a round: messages to the transport, local work at once, messages to oneself by hand.
#include "execute/engine.hpp"
#include "execute/engine_slot.hpp"
#include "execute/keep_busy.hpp"

#include <algorithm>
#include <cstring>

namespace kumihimo::execute {

void Execution::start_round(LaneState& lane, SegmentSlot& slot, std::int32_t round) {
  const auto r = static_cast<std::size_t>(round);
  const std::int32_t begin = slot.code->round_begin[r], end = slot.code->round_begin[r + 1];
  slot.open[r] = end - begin;
  slot.active.push_back(round);
  TransferRequest common;
  common.key.instance = instance_;
  common.key.lane = lane.code->id;
  common.key.segment = slot.segment;
  common.open = &slot.open[r];
  common.over_fabric = program_.hints().fabric;
  for (std::int32_t i = begin; i < end; ++i) {
    const Op& op = slot.code->ops[static_cast<std::size_t>(i)];
    if (trace_) record(TraceEvent::What::step_started, lane, slot, round, &op);
    ++totals_.steps;
    common.key.peer = op.peer;
    common.key.ordinal = op.ordinal;
    common.bytes = op.bytes;
    start_op(slot, op, common);
  }
}

void Execution::start_op(SegmentSlot& slot, const Op& op, TransferRequest& common) {
  switch (op.kind) {
  case StepKind::send:
  case StepKind::signal: return start_send(slot, op, common);
  case StepKind::receive:
  case StepKind::receive_reduce:
  case StepKind::wait_signal: return start_receive(slot, op, common);
  case StepKind::offload: return start_offload(slot, op, common);
  case StepKind::compute: keep_busy(op.nanoseconds); return common.complete();
  case StepKind::copy:
  case StepKind::reduce: do_local(slot, op); common.complete();
  }
}

void Execution::start_send(SegmentSlot& slot, const Op& op, TransferRequest& common) {
  SendRequest& message = slot.sends[static_cast<std::size_t>(op.index)];
  static_cast<TransferRequest&>(message) = common;
  message.key.signal = op.kind == StepKind::signal;
  message.element_bytes = program_.data().type_bytes;
  message.allows_single_copy = program_.hints().single_copy;
  message.first_piece = &message.only;
  message.piece_count = op.bytes > 0;
  const bool self = op.peer == program_.rank();
  if (op.source.run < 0) {
    message.only = {op.bytes > 0 ? walk(slot, op.source).here() : nullptr, op.bytes};
  } else if (gathers_ && !self) {
    const auto area = static_cast<std::size_t>(op.source.area);
    for (std::int32_t i = op.source.run; i < op.source.run + op.source.run_count; ++i) {
      const ByteRun& run = slot.code->runs[static_cast<std::size_t>(i)];
      slot.pieces[static_cast<std::size_t>(i)] = {areas_[area] + run.first, run.bytes};
    }
    message.first_piece = &slot.pieces[static_cast<std::size_t>(op.source.run)];
    message.piece_count = op.source.run_count;
  } else {
    message.only = {const_cast<std::byte*>(pack(slot, op)), op.bytes};
  }
  ++totals_.messages;
  totals_.bytes_sent += op.bytes;
  self ? send_to_self(message) : transport_.send(message);
}

void Execution::start_receive(SegmentSlot& slot, const Op& op, TransferRequest& common) {
  ReceiveRequest& message = slot.receives[static_cast<std::size_t>(op.index)];
  static_cast<TransferRequest&>(message) = common;
  message.key.signal = op.kind == StepKind::wait_signal;
  if (op.bytes > 0) bind_sink(message, slot, op);
  ++totals_.messages;
  totals_.bytes_received += op.bytes;
  op.peer == program_.rank() ? receive_from_self(message) : transport_.receive(message);
}

void Execution::start_offload(SegmentSlot& slot, const Op& op, TransferRequest& common) {
  OffloadRequest& message = slot.offloads[static_cast<std::size_t>(op.index)];
  static_cast<TransferRequest&>(message) = common;
  message.source = nullptr;
  if (op.source.area != Area::none) message.source = op.source.run < 0 ? walk(slot, op.source).here() : pack(slot, op);
  message.root = program_.data().operation ? Rank{-1} : program_.data().source;
  message.reduction = reduction_;
  message.element_bytes = program_.data().type_bytes;
  message.has_target = op.target.area != Area::none;
  if (message.has_target) message.target.copy_into(walk(slot, op.target), program_.data().type_bytes);
  ++totals_.messages;
  transport_.offload(message);
}

// --- memory ----------------------------------------------------------------------------------------------------------

ByteCursor Execution::walk(const SegmentSlot& slot, const DataLocation& place) const {
  std::byte* base = areas_[static_cast<std::size_t>(place.area)];
  if (place.run < 0) return {base + place.first, nullptr, 0};
  return {base, &slot.code->runs[static_cast<std::size_t>(place.run)], 0};
}

void Execution::bind_sink(Sink& sink, const SegmentSlot& slot, const Op& op) const {
  const std::int64_t element_bytes = program_.data().type_bytes;
  if (op.kind == StepKind::receive || op.kind == StepKind::copy)
    sink.copy_into(walk(slot, op.target), element_bytes,
                   program_.hints().streaming_stores && op.target.area == Area::output);
  else
    sink.reduce_into(walk(slot, op.target), walk(slot, op.source), &reduction_, op.arriving_left, element_bytes);
}

// The data at `place` as if they arrived.
void Execution::feed(Sink& sink, const SegmentSlot& slot, const DataLocation& place, std::int64_t bytes) const {
  if (place.run < 0) return sink.take(walk(slot, place).here(), bytes);
  const std::byte* base = areas_[static_cast<std::size_t>(place.area)];
  for (std::int32_t i = place.run; i < place.run + place.run_count; ++i) {
    const ByteRun& run = slot.code->runs[static_cast<std::size_t>(i)];
    sink.take(base + run.first, run.bytes);
  }
}

// copy: target = source. reduce: target = op(source, right), the right operand taken as the arriving one.
void Execution::do_local(SegmentSlot& slot, const Op& op) const {
  Sink sink;
  bind_sink(sink, slot, op);
  feed(sink, slot, op.kind == StepKind::copy ? op.source : op.right, op.bytes);
}

const std::byte* Execution::pack(SegmentSlot& slot, const Op& op) const {
  // Once in a segment at most, at its first one.
  const auto all = static_cast<std::size_t>(slot.code->packed_bytes);
  if (slot.packed.size() < all) slot.packed.resize(all);
  std::byte* packed = slot.packed.data() + op.packed;
  Sink sink;
  sink.copy_into({packed, nullptr, 0}, program_.data().type_bytes);
  feed(sink, slot, op.source, op.bytes);
  return packed;
}

// --- messages to oneself ---------------------------------------------------------------------------------------------

namespace {

template <class Other>
Other* take_partner(std::vector<Other*>& waiting, const MessageKey& key) {
  const auto found = std::find_if(waiting.begin(), waiting.end(), [&](const Other* m) {
    return m->key.lane == key.lane && m->key.segment == key.segment && m->key.ordinal == key.ordinal &&
           m->key.signal == key.signal;
  });
  if (found == waiting.end()) return nullptr;
  Other* partner = *found;
  waiting.erase(found);
  return partner;
}

void move(SendRequest& from, ReceiveRequest& to) {
  for (const Piece& piece : from.pieces()) to.take(piece.data, piece.bytes);
  from.complete();
  to.complete();
}

} // namespace

void Execution::send_to_self(SendRequest& message) {
  if (ReceiveRequest* receiving = take_partner(self_receives_, message.key)) return move(message, *receiving);
  self_sends_.push_back(&message);
}

void Execution::receive_from_self(ReceiveRequest& message) {
  if (SendRequest* sending = take_partner(self_sends_, message.key)) return move(*sending, message);
  self_receives_.push_back(&message);
}

} // namespace kumihimo::execute
