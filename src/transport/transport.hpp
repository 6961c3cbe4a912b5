// What moves bytes between ranks: the narrow interface between the engine, which knows schedules, and the transports
// (threads, MPI, remote memory), which know none. One thread per rank drives a transport; no call blocks for another
// rank's sake.
//
// The engine starts messages with send() and receive() and then calls progress() until their rounds are closed. A
// message is identified at both ends by the same key; there are no tags in a schedule. What a transport must keep to:
//  - exactly the key decides which send meets which receive, whatever the order in which either side starts them;
//  - a message that cannot move yet never holds up one with another key (segments, lanes and instances overtake each
//    other), and no buffering is relied upon: a send may stay open until its receive was started;
//  - the bytes of a message reach ReceiveRequest::take() in order, in pieces of whole elements, as early as they
//  arrive, and
//    straight from where they lie (a staging slot, the sender's own memory): so that large messages are pipelined;
//  - messages of one (instance, peer, lane, segment, kind) whose ordinals differ by more than Demands::spread are
//    started in the order of their ordinals, and those of segments further apart than Demands::window in the order of
//    their segments: a transport may recognise the key by its low bits, as MPI tags do;
//  - the engine sends no empty data and no message to its own rank; signals carry no data, but match.
#pragma once

#include "base/ids.hpp"
#include "base/result.hpp"
#include "transport/remote_memory.hpp"
#include "transport/sink.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::transport {

// The calls that are numbered together. A blocking collective never meets a non-blocking one (MPI 3.1, section 5.12),
// so neither's number says anything of the other's: a rank may start one before the other where another rank starts it
// after. MPI wants one order of all collectives of a communicator; libraries match each form by itself, and there are
// programs that live on it.
enum class Stream : std::uint8_t { blocking, nonblocking };
inline constexpr std::size_t streams = 2;

// The numbers that a rank gives its instances. All ranks start those of a stream in the same order, so that all give an
// instance the same number; no two have the same. The stream is the lowest bit, which transports that keep only the low
// bits of a number keep, too.
class InstanceNumbers {
 public:
  std::uint64_t next(Stream stream) {
    const auto s = static_cast<std::size_t>(stream);
    return ++begun_[s] * streams + s;
  }

 private:
  std::array<std::uint64_t, streams> begun_{};
};

// The ordinal-th data message, or signal, of this segment on this lane between this pair in this direction, within one
// instance (call) of a collective. `instance` is what begin() answered and is the same on all ranks.
struct MessageKey {
  std::uint64_t instance = 0;
  Rank peer;
  LaneId lane;
  std::int64_t segment = 0;
  std::int64_t ordinal = 0;
  bool signal = false;
};

// "receive 0 of lane 2, segment 17 from rank 3": for error messages.
std::string describe(const MessageKey& key, bool sends);

struct Piece {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;
};

// What both directions share. Lives, at one address, from its start to its completion; the transport completes it, as
// its last act on it, by complete().
struct Message {
  MessageKey key;
  std::int64_t bytes = 0; // 0: a signal
  std::int32_t* open = nullptr;

  void complete() { --*open; }
};

// The bytes to send, in order. One piece, unless the transport gathers(). They do not change until completion.
struct SendRequest : Message {
  Piece only; // what `pieces` names where there is one
  const Piece* first_piece = nullptr;
  std::int32_t piece_count = 0;
  std::int64_t element_bytes = 1;  // bytes of one element
  bool allows_single_copy = false; // Hints::single_copy: its receiver may read it here

  std::span<const Piece> pieces() const { return {first_piece, static_cast<std::size_t>(piece_count)}; }
};

// Where the bytes go: ReceiveRequest::take(), in receiving.hpp; or, where direct() is not null, into that memory by the
// transport itself (as a posted receive does).
struct ReceiveRequest : Message, Sink {};

// A network engine's collective among the ranks that have the lane: each gives its source, and target gets what the
// engine makes of all: the sources combined in ascending order of rank, or the root's where root is a rank.
struct OffloadRequest : Message {
  const std::byte* source = nullptr; // null: this rank gives nothing
  Rank root{-1};
  Reduction reduction;
  std::int64_t element_bytes = 1;
  bool has_target = false;
  Sink target;
};

// What the messages of a program ask of a transport.
struct Demands {
  std::int32_t lanes = 0;         // lane ids are below this
  std::int64_t window = 1;        // segments of one lane in flight at once, at most
  std::int64_t spread = 0;        // see above; 0: always in the order of the ordinals
  std::int64_t largest_bytes = 0; // of one message
  std::int64_t element_bytes = 1;
  bool offloads = false;
  bool impossible = false; // this rank has no program: all are to refuse
  std::vector<Rank> peers; // ascending, without this rank
};

// Of a program that offloads, over a transport that cannot.
Error needs_engine();

// The error of a rank that knows only that another one failed; the other's says why.
Error failed_elsewhere(std::string expected);

class Transport {
 public:
  virtual ~Transport() = default;

  // Whether messages with these demands can be moved; called once a program, before its first instance, on all ranks:
  // it may be collective, since all must come to the same answer though their demands differ.
  virtual Status prepare(const Demands& demands) = 0;

  // Starts the next instance: the n-th of a stream on one rank is the n-th of it on all.
  virtual std::uint64_t begin(Stream stream) = 0;

  // Both return at once. Completion, perhaps already within the call, is by Message::complete().
  virtual void send(SendRequest& message) = 0;
  virtual void receive(ReceiveRequest& message) = 0;
  virtual void offload(OffloadRequest& message); // only after prepare() accepted demands that offload

  // Moves what can be moved, without waiting. `failed`: no message will complete any more, for the reason error()
  // gives.
  enum class Progress { nothing, moved, failed };
  virtual Progress progress() = 0;

  // What to do when nothing moved: spin briefly, then yield, and drive the libraries below (an MPI library's own
  // progress among them). Waits for a moment at most.
  virtual void idle() = 0;
  virtual Error error() const = 0;

  // This rank ends a run for a reason of its own: the messages under way are touched no more, and the transport has
  // failed for that reason. (By itself it does the same before it answers `failed`.)
  virtual void abandon(const Error&) {}

  // One-sided writes into the memory of other ranks; null where the transport has none.
  virtual RemoteMemory* remote_memory() { return nullptr; }

  // Whether sends of several pieces are taken; otherwise the engine packs them.
  virtual bool gathers() const { return false; }
};

} // namespace kumihimo::transport
