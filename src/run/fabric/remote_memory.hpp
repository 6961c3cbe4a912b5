// Remote memory (transport/remote_memory.hpp) over a port: the puts of a program, with flags and credits. It is a
// transport without messages.
//
// A grant is a message: it tells the sender key, address and length of the memory. A flag is the data of its put, where
// the provider's puts carry data and nothing before it on the channel may be late; otherwise a message behind the put.
// Puts of a channel use one engine. They follow each other at once where the provider orders puts of their length;
// elsewhere a put is started when the one before it was delivered.
#pragma once

#include "fabric/fabric_ranks.hpp"
#include "fabric/port.hpp"
#include "transport/remote_memory.hpp"
#include "transport/transport.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace kumihimo::fabric {

class FabricRemoteMemory final : public transport::Transport, public transport::RemoteMemory, private FabricUser {
 public:
  // The port must know the network's number: attach() by this constructor may fail, which attached() says.
  FabricRemoteMemory(std::shared_ptr<FabricPort> port, FabricRanks ranks);
  ~FabricRemoteMemory() override;
  bool attached() const { return attached_; }
  // Moves until everything started was handed to the provider: then the others may end.
  bool drained();
  bool misses_a_rank() const { return ranks_.misses_one(*port_); }

  Status prepare(const transport::Demands&) override { return Nothing{}; }
  std::uint64_t begin(transport::Stream stream) override { return instances_.next(stream); }
  void send(transport::SendRequest&) override { refuse_messages(); }
  void receive(transport::ReceiveRequest&) override { refuse_messages(); }
  Progress progress() override;
  void idle() override;
  bool has_failed() const override { return error_.has_value(); }
  Error error() const override { return *error_; }
  void abandon(const Error& reason) override { fail(reason); }
  transport::RemoteMemory* remote_memory() override { return this; }

  Result<transport::MemoryKey> register_memory(std::byte* data, std::int64_t bytes) override;
  void deregister_memory(transport::MemoryKey key) override;
  void grant(Rank sender, std::int32_t channel, transport::MemoryKey key, std::int64_t slots) override;
  std::int64_t flags(Rank sender, std::int32_t channel) override;
  transport::Credits credits(Rank receiver, std::int32_t channel) override;
  void put(transport::PutRequest& request) override;

 private:
  struct Region { // of this rank, or as a peer has described it
    std::byte* data = nullptr;
    RegisteredRange* range = nullptr;
    std::int64_t bytes = 0;
    std::uint64_t address = 0;
    std::vector<std::uint64_t> of_engine; // keys of the provider
  };
  struct Granted { // what a message of this layer carries behind its header
    std::uint64_t key = 0, address = 0;
    std::int64_t bytes = -1, slots = 0; // bytes: -1: the memory is registered no more
    std::int32_t channel = 0;
    std::uint32_t number = 0; // of the flags of this channel
    std::uint64_t of_engine[FabricPort::most_engines] = {};
  };
  struct Channel { // from one rank to another
    // Receiver.
    std::int64_t flags = 0;
    std::optional<std::uint16_t> number;
    // Sender.
    transport::Credits credits;
    std::optional<std::uint16_t> their_number;
    std::deque<transport::PutRequest*> queue;
    std::int64_t undelivered = 0; // of puts that nothing orders
  };
  struct Issued {
    transport::PutRequest* request = nullptr;
    Channel* channel = nullptr;
    bool counts = false;       // in undelivered
    bool flag_follows = false; // by a message, once delivered
    Rank target;
    std::int32_t number = 0; // of the channel
    RegisteredRange* source = nullptr;
  };
  using ChannelName = std::pair<std::int32_t, std::int32_t>; // rank, channel

  void arrived(const WireHeader& header, const std::byte* data, std::int64_t bytes) override;
  void flagged(void* of_number, FlagData flag) override;
  void completed(void* operation) override;

  Result<PeerId> peer_of(Rank rank);
  Channel& channel_of(std::map<ChannelName, Channel>& channels, Rank rank, std::int32_t channel) {
    return channels[{rank.value, channel}];
  }
  bool advance(Rank target, std::int32_t number, Channel& channel);
  bool issue(Rank target, std::int32_t number, Channel& channel, transport::PutRequest& request);
  void put_locally(transport::PutRequest& request);
  void send_message(Rank target, std::size_t engine, WireKind kind, const void* data, std::int64_t bytes, void* token);
  void send_flag(Rank target, std::int32_t channel, void* token);
  void refuse(Rank target, const std::string& why);
  void refuse_messages();
  void fail(Error error);
  void look_at_failures();
  std::size_t engine_of(std::int32_t channel) const { return static_cast<std::size_t>(channel) % port_->engines(); }

  std::shared_ptr<FabricPort> port_;
  FabricRanks ranks_;
  transport::InstanceNumbers instances_;
  std::map<std::int32_t, PeerId> peers_;
  std::map<std::uint64_t, Region> own_;
  std::map<std::pair<std::int32_t, std::uint64_t>, Region> described_; // of other ranks
  std::map<ChannelName, Channel> incoming_, outgoing_;
  std::list<Issued> issued_;
  std::uint64_t last_key_ = 0;
  std::int64_t failures_seen_ = 0;
  std::int32_t turns_ = 0;
  bool attached_ = false;
  std::optional<Error> error_;
};

} // namespace kumihimo::fabric
