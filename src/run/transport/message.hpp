// Two-sided messages: the key that both ends know, and the requests that an engine hands to a transport.
#pragma once

#include "base/ids.hpp"
#include "base/result.hpp"
#include "transport/sink.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kumihimo::transport {

// Blocking and non-blocking collectives are numbered separately. They never match each other (MPI 3.1, section 5.12),
// and programs exist whose ranks start one of each in different orders, although MPI demands one order for all.
enum class Stream : std::uint8_t { blocking, nonblocking };
inline constexpr std::size_t streams = 2;
// Of a stream, an instance may begin only when the one that is as many before it has ended on this rank.
inline constexpr std::int64_t instances_at_once = 16;

// Numbers the instances (calls) of collectives. All ranks start those of a stream in the same order and so give an
// instance the same number. No two instances have the same. The lowest bit is the stream, so that a transport which
// keeps only the low bits still tells the streams apart.
class InstanceNumbers {
 public:
  std::uint64_t next(Stream stream) {
    const auto s = static_cast<std::size_t>(stream);
    return ++begun_[s] * streams + s;
  }

 private:
  std::array<std::uint64_t, streams> begun_{};
};

// Names a message at both ends: the data message, or the signal, with this ordinal among those of one segment of a lane
// between two ranks in one direction, within one instance.
struct MessageKey {
  std::uint64_t instance = 0; // from Transport::begin(), the same on all ranks
  Rank peer;
  LaneId lane;
  std::int64_t segment = 0;
  std::int64_t ordinal = 0;
  bool signal = false;
};

// For error messages: "receive 0 of lane 2, segment 17 from rank 3".
std::string describe(const MessageKey& key, bool sends);

struct Piece {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

// The part that all requests share. A request stays at one address from its start to its completion. complete() is the
// last thing that the transport does with it.
struct TransferRequest {
  MessageKey key;
  std::int64_t bytes = 0; // 0: a signal
  std::int32_t* open = nullptr;
  bool over_fabric = false; // between nodes by Transport::open_fabric(), if that succeeded; the same at both ends

  void complete() { --*open; }
};

// The bytes to send, in order: one piece, or several for a transport that gathers(). They do not change until
// completion.
struct SendRequest : TransferRequest {
  Piece only; // the piece that first_piece names when there is one
  const Piece* first_piece = nullptr;
  std::int32_t piece_count = 0;
  std::int64_t element_bytes = 1;
  bool allows_single_copy = false; // the receiver may read the bytes where they are

  std::span<const Piece> pieces() const { return {first_piece, static_cast<std::size_t>(piece_count)}; }
};

// A transport delivers the bytes by take(), or writes them to direct() where that is not null, as a posted receive
// does.
struct ReceiveRequest : TransferRequest, Sink {};

// A receive of an instance that has begun, whose bytes may come before it is started: until it is, no step of the
// program reads or writes the target.
struct EarlyReceive {
  MessageKey key;
  std::byte* target = nullptr; // null: the bytes will be reduced or scattered, and wait in memory of the transport
  std::int64_t bytes = 0, element_bytes = 1;
  bool over_fabric = false; // as of its message
};

// A collective of the network among the ranks that have the lane. The target gets the sources of all ranks combined in
// ascending order of rank, or the root's source if root is a rank.
struct OffloadRequest : TransferRequest {
  const std::byte* source = nullptr; // null: this rank contributes nothing
  Rank root{-1};
  Reduction reduction;
  std::int64_t element_bytes = 1;
  bool has_target = false;
  Sink target;
};

// --- errors that several transports report

// A message that its receiver does not expect: two ranks call with different counts or types. Transports check before
// they deliver a byte, because the bytes would be written outside the user's buffer.
Error wrong_length(const ReceiveRequest& expected, std::int64_t found_bytes);
// The right length, but its pieces are no whole elements of the receiver.
Error wrong_elements(const ReceiveRequest& expected, std::int64_t found_bytes);
// The MPI library's text for a receive that failed, mostly because the message was longer than its buffer.
Error receive_failed(const ReceiveRequest& expected, const std::string& found);

// The program offloads, and the network of this transport cannot.
Error needs_offload_engine();
// Another rank failed; the error of that rank says why.
Error failed_elsewhere();

} // namespace kumihimo::transport
