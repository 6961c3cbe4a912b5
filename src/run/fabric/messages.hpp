// Two-sided messages over puts, for the ranks of one communicator.
//
// Short messages are eager while their sender has a slot of its two-mode channel (fabric/two_mode_channels.hpp): header
// and bytes in one message. One that nobody has asked for yet stays in its slot, so such messages cannot grow. Longer
// messages, and short ones without a slot, are put: the receiver says where (`ready`), without being asked where it
// knows the length to be long; the sender puts the bytes there, in chunks, each with a flag that names the receive. So
// the bytes go into the program's buffer at once, and a reduction runs while the next chunk arrives. A sender that
// hears nothing announces its message, which also shows that two ranks expect different lengths. Early receives are
// told together when a call begins, by the number of a list that the sender knows from an earlier call with the same
// places (fabric/place_lists.hpp). What comes before its receive is started waits in its place.
#pragma once

#include "base/result.hpp"
#include "execute/scratch.hpp"
#include "fabric/fabric_ranks.hpp"
#include "fabric/place_lists.hpp"
#include "fabric/port.hpp"
#include "fabric/wire.hpp"
#include "transport/transport.hpp"

#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace kumihimo::fabric {

class FabricMessages final : private FabricUser {
 public:
  static constexpr std::int64_t chunk_bytes = 256 << 10;
  // Of places that senders keep: in one list, and of numbers of the port that all its users have.
  static constexpr std::size_t most_places_of_list = 384, most_numbers = 32768;
  // Of buffers for early messages that are reduced or scattered, in one list.
  static constexpr std::int64_t most_list_buffer_bytes = 1 << 20;

  // The port must know the network's number: attach() by this constructor may fail, which attached() says.
  FabricMessages(std::shared_ptr<FabricPort> port, FabricRanks ranks);
  ~FabricMessages();
  FabricMessages(const FabricMessages&) = delete;
  FabricMessages& operator=(const FabricMessages&) = delete;

  bool attached() const { return attached_; }
  static Status accepts(const transport::Demands& demands);
  // As of transport::Transport; after the first error they start nothing.
  std::int64_t early_bytes() const; // the shortest message that expect() wants
  void expect(std::span<const transport::EarlyReceive> receives);
  void send(transport::SendRequest& message);
  void receive(transport::ReceiveRequest& message);
  bool progress(); // true: a message moved, or part of one
  bool busy() const { return !sends_.empty() || !receives_.empty(); }
  bool drained() const; // every operation was handed to the provider and completed
  std::vector<std::int32_t> awaited() const;
  void abandon(const Error& reason);
  const std::optional<Error>& error() const { return error_; }
  bool has_lost_peers() const { return has_lost_peers_; } // why there is an error
  bool misses_a_rank() const { return ranks_.misses_one(*port_); }
  std::int32_t met() const { return static_cast<std::int32_t>(peers_.size()); }
  std::int64_t descriptions() const { return descriptions_; } // of lists, so far: openings beyond them are one header
  std::size_t places() const { return lists_.places(); }      // that senders keep

 private:
  using Clock = std::chrono::steady_clock;
  struct Peer {
    PeerId id = -1;
    bool has_ended = false; // when it was looked for last
  };
  struct Sending {
    transport::SendRequest* message = nullptr;
    WireKey key;
    execute::ScratchMemory packed; // of several pieces
    RegisteredRange* source = nullptr;
    std::int32_t open = 0; // operations
    std::int32_t chunks = 0;
    bool is_waiting = false, announced = false, flags_by_messages = false;
    std::uint16_t number = 0; // of the receive
    Clock::time_point since;
    std::list<Sending>::iterator self;
  };
  struct Receiving;
  struct Landing {                  // where the bytes of a message come
    Receiving* receiving = nullptr; // null: not started yet
    PlaceList* list = nullptr;      // it is one of its places; null: of one message alone
    std::uint16_t number = 0;
    execute::ScratchMemory buffer; // of a message that is reduced or scattered
    std::byte* target = nullptr;
    RegisteredRange* range = nullptr;
    std::int64_t chunk = 0, chunks = 1, left = 1, delivered = 0; // bytes; then counts of chunks
    std::vector<bool> arrived;
    bool was_announced = false; // by the sender, before it put
  };
  struct Receiving {
    transport::ReceiveRequest* message = nullptr;
    WireKey key;
    Landing own;
    Landing* landing = nullptr; // own, or a place of a list; null: the sender was not told where to put
    bool saw_announcement = false;
    std::list<Receiving>::iterator self;
  };
  struct Unexpected {       // came before its receive was started
    bool announced = false; // else its bytes are here
    std::int64_t bytes = 0;
    PeerId sender = -1;
    ChannelEpoch epoch = 0;
    const std::byte* slot = nullptr;
  };

  void arrived(const WireHeader& header, const std::byte* data, std::int64_t bytes) override;
  void flagged(void* of_number, FlagData flag) override;
  void completed(void* operation) override;

  Peer* peer_of(std::int32_t rank);
  std::size_t engine_of(const WireKey& key, std::int32_t sender, std::int32_t receiver) const;
  WireHeader header_of(WireKind kind, const WireKey& key) const;
  void post(std::int32_t rank, const WireHeader& header, std::span<const transport::Piece> data, void* operation,
            const WireKey& key, bool from_sender, bool stays = false);
  void send_eager(Sending& sending, Peer& peer, ChannelEpoch slot);
  void announce(Sending& sending);
  void announce_late_ones();
  void put(Sending& sending, const WirePlace& place);
  void put_chunks(Sending& sending, const std::byte* data, const WirePlace& place);
  void flag_by_message(Sending& sending, std::int32_t chunk);
  void complete(Sending& sending);
  void take_eager(const WireHeader& header, Peer& peer, std::span<const std::byte> data);
  void take_announcement(const WireHeader& header);
  void take_ready(const WireHeader& header);
  void make_ready(Receiving& receiving);
  Result<WirePlace> prepare(Landing& landing, std::byte* target, std::int64_t bytes, std::int64_t element_bytes,
                            const WireKey& key);
  void open_places(std::int32_t rank, std::uint64_t instance, std::span<const ExpectedPlace> places);
  PlaceList* add_list(std::int32_t rank, std::span<const ExpectedPlace> places, std::vector<WirePlace>& described);
  bool forgets_at_once() const;
  void keep(std::int64_t bytes);
  bool has_room_for(std::span<const ExpectedPlace> places);
  void forget(PlaceList& list);
  void drop(PlaceList& list);
  void take_opening(const WireHeader& header, const std::byte* data, std::int64_t bytes);
  void attach(Receiving& receiving, Landing& landing);
  void land(Landing& landing, FlagData flag);
  void deliver(Receiving& receiving);
  void finish(Receiving& receiving);
  void refuse(Receiving& receiving, std::int64_t bytes, bool sender_waits);
  void empty_slot(const Unexpected& message);
  std::int64_t eager_bytes() const { return port_->options().channels.large_eager_bytes; }
  void release(Landing& landing);
  void fail(Error error);
  void lose(std::int32_t rank);
  void look_at_failures();
  void look_for_lost_peers();

  std::shared_ptr<FabricPort> port_;
  FabricRanks ranks_;
  bool attached_ = false, has_lost_peers_ = false;
  std::optional<Error> error_;
  std::unordered_map<std::int32_t, Peer> peers_; // that were met, by rank
  std::list<Sending> sends_;
  std::list<Receiving> receives_;
  std::unordered_map<WireKey, Sending*, WireKeyHash> waiting_sends_; // for their receivers
  std::unordered_map<WireKey, Receiving*, WireKeyHash> expected_;
  std::unordered_map<WireKey, Unexpected, WireKeyHash> unexpected_;
  std::unordered_map<WireKey, WirePlace, WireKeyHash> ready_;       // came before their send was started
  OpenedPlaces opened_;                                             // by this rank's receivers
  PlaceLists lists_;                                                // of this rank's places
  std::unordered_map<std::uint64_t, std::deque<Landing>> landings_; // of each list
  std::unordered_map<WireKey, Landing*, WireKeyHash> early_;        // open, and their receive was not started
  std::int64_t buffer_bytes_ = 0;                                   // of these landings
  std::int64_t descriptions_ = 0;
  std::unordered_set<WireKey, WireKeyHash> stray_; // announcements that come after their message
  std::int64_t failures_seen_ = 0;
  std::int64_t turns_without_movement_ = 0;
  bool message_moved_ = false; // in the last turn of progress
  Clock::time_point looks_at_{}, pings_at_{};
};

} // namespace kumihimo::fabric
