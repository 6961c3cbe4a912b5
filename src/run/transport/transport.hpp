// Moves bytes between ranks. The engine, which knows schedules, drives a transport, which knows none: MPI and
// shared memory, networks with remote memory, and in tests the loopback, whose ranks are threads. One thread per rank
// drives it. No function waits for another rank.
//
// The engine starts messages by send() and receive() and then calls progress() until they are complete. It sends no
// empty data and no message to its own rank; signals carry no data, but match as messages do. A transport guarantees:
//  - Matching: a send meets the receive with the same key, in whatever order the two sides start them.
//  - Independence: a message that cannot move yet holds up no message with another key. The engine does not rely on
//    buffering: a send may stay open until its receive was started.
//  - Delivery: the bytes reach ReceiveRequest::take() in order, in pieces of whole elements, as early as they arrive,
//    and straight from where they are (a slot, the sender's memory). So long messages are pipelined.
// It may identify a key by its low bits, as MPI tags do, because the engine starts in ascending order:
//  - the ordinals of one (instance, peer, lane, segment, signal) that differ by more than Demands::spread;
//  - the segments of a lane that differ by more than Demands::window; the instances of a stream by instances_at_once.
#pragma once

#include "base/result.hpp"
#include "transport/message.hpp"
#include "transport/remote_memory.hpp"

#include <cassert>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>
#include <vector>

namespace kumihimo::transport {

// What the messages of a program need of a transport.
struct Demands {
  std::int32_t lanes = 0;         // lane ids are below this
  std::int64_t window = 1;        // most segments of one lane in flight
  std::int64_t spread = 0;        // see above; 0: ordinals always ascend
  std::int64_t largest_bytes = 0; // of one message
  std::int64_t element_bytes = 1;
  bool offloads = false;
  bool fabric = false;     // messages ask for the network fabric; prepare() opens it where it can
  bool impossible = false; // this rank has no program: every rank must refuse
  std::vector<Rank> peers; // ascending, without this rank
};

class Transport {
 public:
  enum class Progress { nothing, moved, failed };

  virtual ~Transport() = default;

  // Whether messages with these demands can be moved. All ranks call it once for each program, before its first
  // instance. It may be collective, because all ranks must get the same answer although their demands differ.
  virtual Status prepare(const Demands& demands) = 0;

  // Opens the network fabric for the messages that ask for it, beside the usual network. Collective, and the same
  // answer on all ranks; opened once. Error: not applicable, the usual network carries these messages, too.
  virtual Status open_fabric() { return not_applicable("this transport has no network between nodes"); }

  // The number of the next instance of a stream.
  virtual std::uint64_t begin(Stream stream) = 0;

  // Early receives: a transport that writes into the memory of other ranks can tell them all places of an instance at
  // once. The engine names those of at least early_bytes() right after begin(); each is started later by receive().
  virtual std::int64_t early_bytes(bool /*over_fabric*/) const { return std::numeric_limits<std::int64_t>::max(); }
  virtual void expect(std::span<const EarlyReceive>) {}

  // These return at once. A message may be complete on return.
  virtual void send(SendRequest& message) = 0;
  virtual void receive(ReceiveRequest& message) = 0;
  virtual void offload(OffloadRequest&) { // only after prepare() accepted demands that offload
    assert(!"a transport that does not override offload() refuses it in prepare()");
  }

  // Moves what can be moved, without waiting. `failed`: no message will complete any more, error() says why.
  virtual Progress progress() = 0;
  // For a caller that found nothing to move: spins briefly, then yields, and calls poll() from time to time.
  virtual void idle() = 0;

  // The part of idle() that is not waiting, for callers that wait by themselves.
  void poll() {
    progress_libraries();
    check_timeout();
  }
  virtual void progress_libraries() {} // below this transport, on everything that they have under way
  virtual void check_timeout() {}      // fails the transport if nothing moved for too long

  virtual bool has_failed() const = 0;
  virtual Error error() const = 0; // once it has failed
  // Ends all messages under way for an error of this rank: the transport touches them no more and has failed.
  virtual void abandon(const Error&) {}

  // Whether sends of several pieces are taken; otherwise the engine packs them.
  virtual bool gathers() const { return false; }
  // Whether all ranks share memory: then every program is accepted without prepare(), and progress() calls no library.
  // Once nobody calls prepare(), the communicator that the transport was opened for may be freed.
  virtual bool is_single_node() const { return false; }
  // Whether the ranks of a node can read each other's memory (single copy). True for one rank alone.
  virtual bool has_single_copies() const { return false; }

  // A sentence for the user, for example that /dev/shm is too small; mostly empty.
  virtual std::string_view note() const { return {}; }

  // One-sided writes into the memory of other ranks; null: none.
  virtual RemoteMemory* remote_memory() { return nullptr; }
};

} // namespace kumihimo::transport
