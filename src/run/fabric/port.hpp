// The process's connection to a fabric: engines (endpoints, each with its completion queue), the other processes, whose
// addresses are inserted when they are first met, messages, and puts that the target learns of.
//
// What goes by another engine goes by another interface, if there are rails (fabric/engines.hpp). A message uses one
// engine; ofi_mrail, which cuts messages, has keys longer than 64 bits and orders nothing.
//
// Short messages of all users go by the two-mode channels of the process (fabric/channel_messages.hpp). The network
// beneath them brings a message to a receive that all peers share; one that nobody waits for is then kept in a slot.
//
// Several users share a port: one for each communicator. Threads may drive different users; each holds mutex() in every
// call of the port. What happens to another user is put in that user's inbox and handed to it in its own progress().
#pragma once

#include "base/result.hpp"
#include "fabric/channel_messages.hpp"
#include "fabric/engines.hpp"
#include "fabric/message_blocks.hpp"
#include "fabric/registrations.hpp"
#include "fabric/wire.hpp"
#include "shared_memory/peer_process.hpp"
#include "transport/message.hpp"

#include <rdma/fi_rma.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kumihimo::fabric {

// What a process tells the others of itself, once: a card of the same length from each.
struct CardHeader {
  shared_memory::PeerProcess process;
  std::int32_t engines = 0;
  std::int32_t address_bytes = 0; // of each engine; the addresses follow
};

class FabricUser {
 public:
  // Its own number among the users of all ports of the job, in the header of its messages.
  virtual void arrived(const WireHeader& header, const std::byte* data, std::int64_t bytes) = 0;
  virtual void flagged(void* of_number, FlagData flag) = 0;
  virtual void completed(void* operation) = 0;

 protected:
  ~FabricUser() = default;
};

struct PortOptions {
  ProviderWish provider;
  std::int32_t engines = 2;       // at least one a rail
  std::vector<std::string> rails; // interfaces (ProviderWish::interface); empty: one, of the provider's choice
  ChannelSizes channels;          // large_eager_bytes: the longest data of an eager message
  bool flags_by_messages = false; // as over providers whose puts carry no data
  bool orders_nothing = false;    // as over providers without ordered puts
  bool opens_places = true;       // of early receives; else each message's place is told when its receive starts
  bool forgets_places = false;    // after each call, as over providers that pin pages
  std::size_t most_places = 8192; // of early receives, that the senders of one communicator keep
  std::int64_t most_kept_bytes = 2 << 20;   // of buffers for places, that all users keep between calls
  std::int64_t most_pinned_bytes = 4 << 20; // of memory that one call registers at its start
};

class FabricPort final : private ChannelCarrier {
 public:
  static constexpr std::int32_t most_engines = FabricEngines::most;

  static Result<std::unique_ptr<FabricPort>> open(const PortOptions& options);
  ~FabricPort();
  FabricPort(const FabricPort&) = delete;
  FabricPort& operator=(const FabricPort&) = delete;

  std::mutex& mutex() { return mutex_; }
  const PortOptions& options() const { return options_; }
  const ProviderRules& rules() const { return rules_; }
  std::string provider() const { return engines_->provider(); }
  std::string interface() const { return engines_->interface(); }
  std::size_t rails() const { return engines_->rails(); }
  std::size_t engines() const { return engines_->size(); }
  Registrations& registrations() { return *registrations_; }

  std::vector<std::byte> card() const;
  // The process of a card. Error: the provider does not take its address.
  Result<PeerId> meet(std::span<const std::byte> card);
  std::optional<PeerId> met(std::span<const std::byte> card) const; // if it was
  static shared_memory::PeerProcess process_of(std::span<const std::byte> card);
  const shared_memory::PeerProcess& process(PeerId peer) const { return peers_[at(peer)].process; }

  // Users, and the numbers of receives. No number is left: nullopt.
  bool attach(FabricUser& user, std::uint32_t network); // false: another user of this port has the number
  void detach(FabricUser& user);                        // its operations end unheard
  std::uint32_t propose_network() { return ++last_network_; }
  std::optional<std::uint16_t> take_number(FabricUser& user, void* of_number);
  void give_number(std::uint16_t number);
  std::size_t numbers_taken() const { return numbers_.size() - free_numbers_.size(); }
  std::int64_t kept_bytes() const { return kept_bytes_; } // of options().most_kept_bytes
  void keep(std::int64_t bytes) { kept_bytes_ += bytes; } // negative: they are given back

  std::int64_t body_bytes() const { return options_.channels.large_slot_bytes; } // behind a header, at most
  // Copies header and pieces. `operation`, if not null, is handed to user.completed() when the provider has them.
  // `stays`: forget_waiting() leaves it.
  void send(FabricUser& user, PeerId peer, std::size_t engine, const WireHeader& header,
            std::span<const transport::Piece> data, void* operation, bool stays = false);

  ChannelMessages& short_messages() { return short_messages_; }
  const ChannelMessages& short_messages() const { return short_messages_; }
  // Finds out whether a process still answers. The connection does so, and a process that has lost this one.
  void ping(PeerId peer);
  // A message to it has failed, or its process has ended: this port is of no more use to it.
  void lose(PeerId peer);
  bool has_lost(PeerId peer) const { return has_lost_peers_ && short_messages_.channels().is_lost(peer); }
  bool has_lost_peers() const { return has_lost_peers_; }

  struct Put {
    PeerId peer = 0;
    std::size_t engine = 0;
    const std::byte* data = nullptr;
    std::int64_t bytes = 0;
    RegisteredRange* source = nullptr; // of the data, where rules().registers_sources
    std::uint64_t address = 0, key = 0;
    std::optional<FlagData> flag; // only where rules().puts_carry_data
    bool delivered = false;       // completed() comes when the target has the data
  };
  void put(FabricUser& user, const Put& put, void* operation);

  struct Get {
    PeerId peer = 0;
    std::size_t engine = 0;
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
    RegisteredRange* target = nullptr; // of the data, where rules().registers_sources
    std::uint64_t address = 0, key = 0;
  };
  void get(FabricUser& user, const Get& get, void* operation);

  // Of 64-bit integers; only where rules().has_atomics.
  struct Atomic {
    enum class Kind : std::uint8_t { add, compare_and_swap };
    Kind kind = Kind::add;
    PeerId peer = 0;
    std::size_t engine = 0;
    std::uint64_t address = 0, key = 0;
    std::int64_t value = 0, expected = 0;
    std::int64_t* old = nullptr;
  };
  void change(FabricUser& user, const Atomic& atomic, void* operation);

  // Moves what can be moved, and hands events to `user`.
  bool progress(FabricUser& user);
  // Those of this user that the provider has not taken yet are never started: their memory may be freed.
  void forget_waiting(FabricUser& user);
  // Operations of this user that the provider has not completed.
  std::int64_t under_way(const FabricUser& user) const;

  // Of the provider shm: unlinks what a process that has ended left in /dev/shm, 5 MB an endpoint.
  void remove_remains(PeerId peer);

  // Failed operations: how many so far, and the text of a peer's first; empty: none.
  std::int64_t failures() const { return failures_; }
  const std::string& failure(PeerId peer) const { return peers_[at(peer)].failure; }
  const std::string& failure() const { return failure_; } // that no peer could be named for

 private:
  struct Operation;
  struct Event;
  struct User;
  struct Peer {
    shared_memory::PeerProcess process;
    std::vector<fi_addr_t> of_engine;
    std::string failure;
    std::int64_t waiting = 0; // operations that the provider had no room for
  };
  struct Number {
    User* user = nullptr;
    void* of_number = nullptr;
  };

  explicit FabricPort(const PortOptions& options);
  const FabricLibrary& library() const { return engines_->library(); }
  Status post_receives();
  static std::size_t at(PeerId peer) { return static_cast<std::size_t>(peer); }
  std::size_t block_bytes() const { return sizeof(WireHeader) + static_cast<std::size_t>(body_bytes()); }

  Operation* take_operation();
  void give_operation(Operation* operation);
  bool give_block(Operation& operation);
  User& user_of(FabricUser& user);

  Operation* take_access(FabricUser& user, PeerId peer, std::size_t engine, void* token);
  void start(Operation* operation);
  long post(Operation& operation);
  long post_get(Operation& operation);
  long post_atomic(Operation& operation);
  bool start_waiting();
  bool poll(std::size_t engine, FabricUser& current);
  void finish(Operation* operation, FabricUser& current);
  void take_error(std::size_t engine, FabricUser& current);
  void fail(Operation& operation, long code);
  void take_message(Operation& operation, std::size_t bytes, FabricUser& current);
  void send_for(User* user, PeerId peer, std::size_t engine, const WireHeader& header,
                std::span<const transport::Piece> data, void* operation, bool stays);
  void carry(PeerId peer, const WireHeader& header) override;
  void broken_rule(const std::string& rule) override;
  void lost_by(PeerId peer) override;
  void take_flag(std::uint32_t word, FabricUser& current);

  PortOptions options_;
  ProviderRules rules_;
  std::int64_t kept_bytes_ = 0;
  std::mutex mutex_;
  std::unique_ptr<FabricEngines> engines_;
  std::unique_ptr<Registrations> registrations_;
  std::vector<Peer> peers_;
  std::unordered_map<std::string, PeerId> peer_of_card_;
  ChannelMessages short_messages_;
  bool has_lost_peers_ = false;
  std::unordered_map<std::uint32_t, User*> user_of_network_;
  std::vector<std::unique_ptr<User>> users_;
  std::vector<Number> numbers_;
  std::vector<std::uint16_t> free_numbers_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<Operation*> free_operations_;
  MessageBlocks blocks_;
  std::deque<Operation*> waiting_; // for room at the provider
  std::uint32_t last_network_ = 0;
  std::int64_t failures_ = 0;
  std::string failure_;
};

} // namespace kumihimo::fabric
