// Two-sided messages by puts with credits: what turns a transport with remote memory into one that an engine can drive.
//
// Each rank has a ring of slots in registered memory for every peer that sends to it. The sender puts a message into
// the next slots, chunk by chunk, each with a header and a flag; a slot's credit holds it back until the receiver has
// emptied the slot. The receiver delivers the chunks in the order of their flags and grants each emptied slot again. A
// message that comes before its receive was started is copied to the heap, so that its slots never hold up another
// message.
#pragma once

#include "transport/transport.hpp"

#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace kumihimo::transport {

struct PutOptions {       // alike on all ranks
  std::int64_t slots = 8; // of each ring
  std::int64_t slot_bytes = 8192;
  std::int32_t channel = 0;
};

class PutMessages final : public Transport {
 public:
  // `below` has remote memory; it outlives this object.
  PutMessages(Transport& below, PutOptions options = {});
  ~PutMessages() override;

  Status prepare(const Demands& demands) override; // makes the rings of new peers; an error of this rank alone
  std::uint64_t begin(Stream stream) override { return below_.begin(stream); }
  void send(SendRequest& message) override;
  void receive(ReceiveRequest& message) override;
  void offload(OffloadRequest& message) override { below_.offload(message); }
  Progress progress() override;
  void idle() override { below_.idle(); }
  bool has_failed() const override { return error_ || below_.has_failed(); }
  Error error() const override { return error_ ? *error_ : below_.error(); }
  void abandon(const Error& reason) override;
  bool gathers() const override { return true; }

 private:
  struct Header { // of a chunk, at the start of its slot
    MessageKey key;
    std::int64_t message_bytes = 0, first = 0, bytes = 0; // of the message; of this chunk in it
  };
  struct Outgoing { // to one peer
    struct Slot {
      Header header;
      std::vector<PutRequest> puts;
      std::int32_t open = 0;
      SendRequest* completes = nullptr; // with its last chunk
    };
    MemoryKey key;
    std::vector<Slot> slots;
    std::deque<SendRequest*> queue;
    std::int64_t begun = 0, ended = 0; // slots
    std::int64_t done = 0;             // bytes of the first message
    std::size_t piece = 0;             // the current one of it
    std::int64_t done_in_piece = 0;
  };
  struct Unexpected {
    MessageKey key;
    std::vector<std::byte> data;
    bool whole = false;
    ReceiveRequest* receiver = nullptr;
  };
  struct Incoming { // from one peer
    std::unique_ptr<std::byte[]> ring;
    MemoryKey key;
    std::int64_t emptied = 0; // slots
    ReceiveRequest* current = nullptr;
    Unexpected* unexpected = nullptr; // the message that is arriving, where current is not
  };

  std::int64_t stride() const { // so that every slot is aligned for any element
    return (static_cast<std::int64_t>(sizeof(Header)) + options_.slot_bytes + 63) / 64 * 64;
  }
  bool advance(Rank peer, Outgoing& to);
  void put_chunk(Rank peer, Outgoing& to);
  bool drain(Rank peer, Incoming& from);
  bool take(Incoming& from, const Header& header, const std::byte* data);
  void finish(Unexpected& message);

  Transport& below_;
  RemoteMemory& memory_;
  PutOptions options_;
  std::map<Rank, Outgoing> outgoing_;
  std::map<Rank, Incoming> incoming_;
  std::vector<ReceiveRequest*> expected_;
  std::list<Unexpected> unexpected_;
  std::optional<Error> error_;
};

} // namespace kumihimo::transport
