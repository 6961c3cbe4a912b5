// Remote memory for programs of users (include/kumihimo/remote_memory.h): puts, gets and atomics by keys that the
// program hands round, flags at the target, fences. The header of C says what each call promises; this class keeps it
// with what the provider announces.
//
// A put is ordered if the provider orders puts of its length, and messages behind them. Ordered puts are known to be
// delivered when a message behind them was answered (a flush). Others are asked to complete when they are delivered. A
// put with a flag that the provider would not order behind earlier puts waits here until those are delivered, and holds
// up the later puts of its engine to that rank.
//
// What a program allocates here is mapped by the ranks of its node: their puts and gets are copies, which are complete
// at once. A flag goes by stores, too, unless an earlier put of its engine to that rank may not be delivered yet.
//
// Threads: every call takes the port's mutex, also in each turn of a wait. Long copies give it back meanwhile.
#pragma once

#include "fabric/access_memory.hpp"
#include "fabric/access_opening.hpp"
#include "fabric/port.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace kumihimo::fabric {

// Of one operation or several, in the program's memory.
struct AccessCompletion {
  std::int64_t open = 0, failed = 0;
};

class RemoteAccess final : private FabricUser {
 public:
  static constexpr std::int32_t flags = FlagData::most_chunks;
  static constexpr std::int32_t all_ranks = -1;
  using Exchange = AccessExchange;

  // Collective, whatever the options.
  static Result<std::unique_ptr<RemoteAccess>> open(std::int32_t rank, std::int32_t ranks, const Exchange& exchange,
                                                    Result<AccessOptions> options);
  ~RemoteAccess();
  RemoteAccess(const RemoteAccess&) = delete;
  RemoteAccess& operator=(const RemoteAccess&) = delete;

  std::string description() const;
  AccessOutcome register_memory(std::byte* data, std::int64_t bytes, AccessKey& key);
  AccessOutcome deregister_memory(const AccessKey& key);
  // Registered, and mapped by the processes of the node at their first access.
  AccessOutcome allocate(std::int64_t bytes, std::byte*& data, AccessKey& key);
  AccessOutcome free(const AccessKey& key);
  AccessOutcome use_engine(std::int32_t engine);

  using Place = AccessPlace;
  AccessOutcome put(const std::byte* data, std::int64_t bytes, const Place& target, std::optional<std::int32_t> flag,
                    AccessCompletion* completion);
  AccessOutcome get(std::byte* data, std::int64_t bytes, const Place& source, AccessCompletion* completion);
  AccessOutcome change(FabricPort::Atomic atomic, const Place& target, AccessCompletion* completion);

  // `seconds` of all waits: negative: without a limit.
  AccessOutcome progress();
  AccessOutcome test(AccessCompletion& completion, bool& complete);
  AccessOutcome wait(AccessCompletion& completion, double seconds);
  AccessOutcome fence(std::int32_t rank, double seconds);
  AccessOutcome count_flags(std::int32_t flag, std::int64_t& count);
  // `source`: the rank that is watched meanwhile, or all_ranks.
  AccessOutcome wait_flag(std::int32_t flag, std::int64_t count, std::int32_t source, double seconds);
  AccessOutcome barrier(double seconds);
  // Ends when all ranks came here and have all data of this one. The object only needs its destructor then.
  AccessOutcome close(double seconds);

 private:
  using Clock = std::chrono::steady_clock;
  struct Queued {
    FabricPort::Put put;
    std::optional<std::int32_t> flag;
    AccessCompletion* completion = nullptr;
  };
  struct Lane {                             // to one rank on one engine
    std::int64_t undelivered = 0;           // puts that complete when they are delivered
    std::uint64_t ordered = 0, flushed = 0; // ordered puts; those that are known to be delivered
    std::uint64_t asked = 0;                // by the flush that is under way
    std::deque<Queued> held;                // the first is a put with a flag
    bool is_waiting() const { return undelivered > 0 || asked > flushed || !held.empty(); }
    bool is_delivered() const { return undelivered == 0 && ordered == flushed && held.empty(); }
  };
  struct Peer {
    std::int32_t rank = 0;
    PeerId id = -1;
    std::int64_t open = 0; // operations
    std::array<Lane, FabricPort::most_engines> lanes;
    bool seen_ended = false;
    std::string failure; // not empty: lost
  };
  struct Issued {
    Peer* peer = nullptr; // null: its peer was lost before
    Lane* lane = nullptr; // of a put that completes when it is delivered
    AccessCompletion* completion = nullptr;
    RegisteredRange* range = nullptr; // of this rank's memory
    std::optional<std::int32_t> flag; // follows by a message
    std::list<Issued>::iterator self{};
  };

  struct Stored { // by stores into the memory of a rank of the node
    std::uint32_t count = 0;
    Clock::time_point looks_at{};
  };

  RemoteAccess(OpenedAccess opened, std::int32_t rank, std::int32_t ranks);
  void arrived(const WireHeader& header, const std::byte* data, std::int64_t bytes) override;
  void flagged(void* of_number, FlagData flag) override;
  void completed(void* operation) override;

  AccessOutcome fault_of_rank(std::int32_t rank) const;
  AccessOutcome meet(std::int32_t rank, Peer*& peer);
  AccessOutcome use_range(const std::byte* data, std::int64_t bytes, RegisteredRange*& range);
  AccessOutcome lost(const Peer& peer) const;
  bool is_ordered(std::int64_t bytes) const;
  bool may_issue(const Lane& lane, const Queued& put) const;
  void submit(Peer& peer, Queued put);
  AccessOutcome started(const Peer& peer, const AccessCompletion* completion);
  void issue(Peer& peer, Queued put);
  void advance(Peer& peer, Lane& lane);
  void flush(Peer& peer, std::size_t engine);
  Issued& note(Peer& peer, AccessCompletion* completion);
  void forget(Issued& issued);
  void count_flag(std::int32_t flag);
  std::int64_t put_times(std::int32_t flag) const;
  std::byte* reached_by_stores(const Place& place);
  bool is_lost_by_stores(std::int32_t rank, Stored& stored);
  bool put_by_stores(std::unique_lock<std::mutex>& lock, const std::byte* data, std::int64_t bytes, const Place& target,
                     std::optional<std::int32_t> flag);
  void send(Peer& peer, std::size_t engine, WireKind kind, std::uint64_t number, void* token = nullptr);

  bool turn();
  void look_at_failures();
  void look_for_lost_peers(std::int32_t watched);
  void lose(Peer& peer, const std::string& why);
  template <class Ended, class Awaited>
  AccessOutcome until(double seconds, std::int32_t watched, Ended&& ended, Awaited&& awaited);
  std::optional<AccessOutcome> fenced(Peer& peer);
  std::optional<AccessOutcome> past_barrier();
  void fail_barrier();
  std::int32_t rounds() const;
  void help(const std::stop_token& stop);

  std::unique_ptr<FabricPort> port_;
  AccessMemory memory_;
  std::int32_t rank_, ranks_;
  AccessOptions options_;
  std::vector<std::byte> cards_;
  std::size_t card_bytes_ = 0, engine_ = 0;
  std::uint16_t number_ = 0;                        // that names the flags of each rank, the same on all
  std::unordered_map<std::int32_t, Peer> peers_;    // that were met
  std::unordered_map<std::int32_t, Stored> stored_; // by rank
  std::list<Issued> issued_, free_;
  std::string last_failure_;
  std::vector<std::int64_t> flags_;
  std::array<std::int64_t, 32> meets_{}; // of each round, how many have come
  std::int64_t barriers_ = 0;            // begun
  std::int64_t passed_ = 0;
  std::int32_t round_ = -1;          // of the barrier under way; -1: none
  std::int32_t awaited_ = all_ranks; // in it
  bool told_round_ = false, has_failed_barrier_ = false;
  std::int32_t lost_in_barrier_ = -1; // rank; since then no barrier is passed
  std::int64_t failures_seen_ = 0;
  Clock::time_point looks_at_{}, pings_at_{};
  std::atomic<bool> has_turned_ = false; // since the helping thread has looked
  std::jthread helper_;                  // last: it uses all of the above
};

} // namespace kumihimo::fabric
