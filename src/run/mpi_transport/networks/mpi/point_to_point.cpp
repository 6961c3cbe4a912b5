#include "mpi_transport/networks/mpi/point_to_point.hpp"

#include "transport/message.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <limits>
#include <utility>

namespace kumihimo::mpi_transport {
namespace {

constexpr int turns_for_cancelling = 100;

// The library's MPI_TAG_UB, or a smaller one that is asked for.
Result<std::int64_t> tag_upper_bound(const NetworkContext& context) {
  constexpr int least = 32767; // the minimum of the MPI standard
  int* value = nullptr;
  int found = 0;
  const int code = context.library.call.Comm_get_attr(context.library.constants.comm_world,
                                                      context.library.constants.tag_ub, &value, &found);
  if (Status status = context.library.check(code, "MPI_Comm_get_attr of MPI_TAG_UB"); !status) return status.error();
  if (!found || *value < least)
    return failed("MPI_TAG_UB must be at least 32767, as the MPI standard says",
                  found ? std::to_string(*value) : "the library has none", "use another MPI library");
  const std::int64_t asked = context.tag_upper_bound;
  if (asked < 0) return std::int64_t{*value};
  if (asked < TagLayout::smallest_upper_bound || asked > *value)
    return wrong_value(
        fmt::format("the upper bound of tags must be {} to {} (MPI_TAG_UB)", TagLayout::smallest_upper_bound, *value),
        asked, "leave it out for the library's own");
  return asked;
}

} // namespace

TagLayout::TagLayout(std::int64_t upper_bound) : upper_bound_(upper_bound) {
  assert(upper_bound >= smallest_upper_bound && upper_bound <= std::numeric_limits<int>::max());
  const int without_signal = std::bit_width(static_cast<std::uint64_t>(upper_bound) + 1) - 1 - 1;
  instance_bits_ = std::min(most_instance_bits, without_signal);
  const int bits = without_signal - instance_bits_;
  lane_bits_ = std::min(7, bits / 3);
  ordinal_bits_ = (bits - lane_bits_) / 2;
  segment_bits_ = bits - lane_bits_ - ordinal_bits_;
}

Status TagLayout::accepts(const transport::Demands& demands) const {
  const std::int64_t lanes = std::int64_t{1} << lane_bits_, segments = std::int64_t{1} << segment_bits_,
                     ordinals = std::int64_t{1} << ordinal_bits_;
  if (demands.lanes <= lanes && demands.window <= segments && demands.spread < ordinals) return Nothing{};
  return failed(fmt::format("MPI_TAG_UB = {} is too small for {} lanes, {} segments in flight and {} messages of each",
                            upper_bound_, demands.lanes, demands.window, demands.spread + 1),
                fmt::format("it is enough for {} lanes, {} segments and {} messages", lanes, segments, ordinals),
                "use a smaller window or fewer lanes");
}

int TagLayout::tag(const transport::MessageKey& key) const {
  const auto low = [](auto value, int bits) { return static_cast<std::uint32_t>(value) & ((1u << bits) - 1); };
  std::uint32_t tag = low(key.instance, instance_bits_);
  tag = tag << lane_bits_ | low(key.lane.value, lane_bits_);
  tag = tag << segment_bits_ | low(key.segment, segment_bits_);
  tag = tag << ordinal_bits_ | low(key.ordinal, ordinal_bits_);
  return static_cast<int>(tag << 1 | (key.signal ? 1u : 0u));
}

PointToPoint::PointToPoint(const NetworkContext& context, std::int64_t tag_upper_bound)
    : library_(context.library), communicator_(context.communicator), tags_(tag_upper_bound),
      most_at_once_(context.most_at_once_bytes) {}

Result<std::unique_ptr<MpiNetwork>> make_mpi_network(const NetworkContext& context) {
  const std::int64_t tags = TRY(tag_upper_bound(context));
  return std::unique_ptr<MpiNetwork>(std::make_unique<PointToPoint>(context, tags));
}

Status PointToPoint::prepare(const transport::Demands& demands) const { return tags_.accepts(demands); }

// Starts the message, or its parts, by start(data, bytes, request).
template <class Start>
void PointToPoint::start(UnderWay item, std::byte* data, Start&& start) {
  const std::int64_t bytes = item.message->bytes;
  if (bytes > most_at_once_) {
    item.parts = std::make_shared<Parts>();
    item.parts->buffer = std::move(item.buffer);
    item.parts->left = static_cast<std::int32_t>((bytes + most_at_once_ - 1) / most_at_once_);
  }
  std::int64_t begun = 0;
  do {
    UnderWay& part = under_way_.emplace_back(); // before it is started: what has started must be known
    part.message = item.message, part.receiving = item.receiving, part.parts = item.parts;
    part.bytes = std::min(bytes - begun, most_at_once_);
    if (!item.parts) part.buffer = std::move(item.buffer);
    start(data ? data + begun : nullptr, static_cast<int>(part.bytes), &part.request);
    if (error_) return under_way_.pop_back();
    begun += part.bytes;
  } while (begun < bytes);
}

void PointToPoint::send(transport::SendRequest& message) {
  if (error_) return;
  UnderWay item;
  item.message = &message;
  std::byte* data = message.only.data;
  if (message.pieces().size() > 1) {
    item.buffer = Buffer(message.bytes);
    std::byte* to = item.buffer.data();
    for (const transport::Piece& piece : message.pieces()) {
      std::memcpy(to, piece.data, static_cast<std::size_t>(piece.bytes));
      to += piece.bytes;
    }
    data = item.buffer.data();
  }
  start(std::move(item), data, [&](const std::byte* part, int bytes, mpi::Handle* request) {
    check(library_.call.Isend(part, bytes, library_.constants.byte, message.key.peer.value, tags_.tag(message.key),
                              communicator_, request),
          "MPI_Isend");
  });
}

void PointToPoint::receive(transport::ReceiveRequest& message) {
  if (error_) return;
  UnderWay item;
  item.message = item.receiving = &message;
  std::byte* to = message.bytes == 0 ? nullptr : message.direct();
  if (!to && message.bytes > 0) {
    item.buffer = Buffer(message.bytes);
    to = item.buffer.data();
  }
  start(std::move(item), to, [&](std::byte* part, int bytes, mpi::Handle* request) {
    check(library_.call.Irecv(part, bytes, library_.constants.byte, message.key.peer.value, tags_.tag(message.key),
                              communicator_, request),
          "MPI_Irecv");
  });
}

bool PointToPoint::progress() {
  bool moved = false;
  for (std::size_t i = 0; i < under_way_.size();) {
    int done = 0;
    mpi::StatusWords status;
    UnderWay& tested = under_way_[i];
    const int code = library_.call.Test(&tested.request, &done, &status);
    if (code != 0) {
      error_ = tested.receiving ? receive_failed(*tested.receiving, library_.error_text(code))
                                : library_.check(code, "MPI_Test of a send").error();
      error_->truncation = tested.receiving && library_.is_truncation(code);
      tested.receiving = nullptr; // never cancelled: the request may not exist any more
      return moved;
    }
    if (!done) {
      ++i;
      continue;
    }
    UnderWay item = std::move(tested);
    if (i + 1 < under_way_.size()) under_way_[i] = std::move(under_way_.back());
    under_way_.pop_back();
    finish(item, status);
    if (error_) return moved;
    moved = true;
  }
  return moved;
}

void PointToPoint::finish(UnderWay& item, const mpi::StatusWords& status) {
  if (item.receiving && !is_whole(item, status)) return;
  if (item.parts && --item.parts->left > 0) return;
  const Buffer& buffer = item.parts ? item.parts->buffer : item.buffer;
  if (item.receiving && buffer.exists()) item.receiving->take(buffer.data(), item.message->bytes);
  item.message->complete();
}

// The library refuses a longer message, by an error of MPI_Test. MPICH also calls the error handler of MPI_COMM_WORLD,
// which is the program's.
bool PointToPoint::is_whole(const UnderWay& item, const mpi::StatusWords& status) {
  int bytes = 0;
  check(library_.call.Get_count(&status, library_.constants.byte, &bytes), "MPI_Get_count");
  if (!error_ && bytes != item.bytes) error_ = wrong_length(*item.receiving, bytes);
  return !error_;
}

// Cancels receives that no message has matched. The other requests and their buffers stay with the library until the
// process ends. MPI cannot cancel a send, or a receive whose message is on its way, and the peer may have failed, so a
// wait could last for ever. Such a request may still read or write the user's memory; the process is to end soon.
void PointToPoint::abandon(const Error& reason) {
  if (!error_) error_ = reason;
  cancel_receives();
  for (UnderWay& item : under_way_) (item.parts ? item.parts->buffer : item.buffer).leak();
  under_way_.clear();
}

void PointToPoint::cancel_receives() {
  for (UnderWay& item : under_way_)
    if (item.receiving) library_.call.Cancel(&item.request);
  for (int turn = 0; turn < turns_for_cancelling && !under_way_.empty(); ++turn)
    std::erase_if(under_way_, [&](UnderWay& item) {
      int done = 0;
      return item.receiving && library_.call.Test(&item.request, &done, library_.constants.status_ignore) == 0 && done;
    });
}

std::vector<std::int32_t> PointToPoint::awaited() const {
  std::vector<std::int32_t> peers;
  for (const UnderWay& item : under_way_) peers.push_back(item.message->key.peer.value);
  return peers;
}

void PointToPoint::check(int code, const char* what) {
  if (code == 0 || error_) return;
  error_ = failed(std::string(what) + " failed", library_.error_text(code));
}

} // namespace kumihimo::mpi_transport
