// The state that the loopback's ranks share, under one lock: matches sends with receives, applies puts, and queues
// events for the rank whose thread must act on them.
#pragma once

#include "loopback/loopback.hpp"

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>

namespace kumihimo::transport {

// A send and its receive. The receiver's thread moves the bytes, then the sender's thread completes the send.
struct Match {
  SendRequest* sending = nullptr;
  ReceiveRequest* receiving = nullptr;
  Rank sender;
};

// The result of an offload, for one of its ranks.
struct Combined {
  OffloadRequest* message = nullptr;
  std::shared_ptr<const std::vector<std::byte>> result;
};

// Events that a rank's thread has not handled yet.
struct Events {
  std::vector<Match> matches;
  std::vector<SendRequest*> taken; // by their receivers
  std::vector<Combined> combined;
  bool empty() const { return matches.empty() && taken.empty() && combined.empty(); }
};

class Switchboard {
 public:
  Switchboard(std::int32_t ranks, const LoopbackOptions& options);

  void post(Rank from, SendRequest& message);
  void post(Rank to, ReceiveRequest& message);
  void post(Rank rank, OffloadRequest& message);
  void set_participants(LaneId lane, std::vector<Rank> ranks);

  // Remote memory (transport/remote_memory.hpp); the first rank is the caller's.
  MemoryKey register_memory(Rank owner, std::byte* data, std::int64_t bytes);
  void deregister_memory(Rank owner, MemoryKey key);
  void grant(Rank receiver, Rank sender, std::int32_t channel, MemoryKey key, std::int64_t slots);
  Credits credits(Rank sender, Rank receiver, std::int32_t channel);
  std::int64_t flags(Rank receiver, Rank sender, std::int32_t channel);
  // Writes the data; false: without a credit, or after a failure, nothing. The flag is raised by itself, later.
  bool write(Rank sender, const PutRequest& request);
  void raise_flag(Rank sender, const PutRequest& request);

  // Takes all events of the rank. None once the board has failed.
  Events collect(Rank rank);
  void report_taken(const Match& match);

  // Waits for an event of the rank or a failure; by turns, notes only that it waits. If all ranks wait, the board
  // fails: a deadlock.
  void wait(Rank rank);
  void leave(Rank rank);
  void fail(const Error& error);
  std::optional<Error> failure();

 private:
  struct Key {
    std::uint64_t instance;
    std::int32_t from, to, lane;
    std::int64_t segment, ordinal;
    bool signal;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    std::size_t operator()(const Key& k) const;
  };
  struct OffloadKey {
    std::uint64_t instance;
    std::int32_t lane;
    std::int64_t segment, ordinal;
    auto operator<=>(const OffloadKey&) const = default;
  };
  struct Station { // one rank
    std::condition_variable called;
    Events events;
    bool waiting = false, left = false;
    bool notified = false; // of a flag or a credit, since it last waited
  };
  struct Region {
    Rank owner;
    std::byte* data = nullptr;
    std::int64_t bytes = 0;
  };
  struct ChannelKey {
    Rank sender, receiver;
    std::int32_t number = 0;
    auto operator<=>(const ChannelKey&) const = default;
  };
  struct Channel {
    Credits credits;
    std::int64_t flags = 0;
    std::optional<std::int64_t> starved_slot; // a put that waits for its credit
  };

  void match(const Key& key, SendRequest& sending, ReceiveRequest& receiving);
  void combine(const OffloadKey& key);
  void call(Station& station);
  void notify(Rank rank);
  void fail_locked(const Error& error);
  bool nobody_moves() const;
  std::string who_waits() const;

  std::mutex mutex_;
  std::vector<Station> stations_;
  std::unordered_map<Key, SendRequest*, Hash> sends_;
  std::unordered_map<Key, ReceiveRequest*, Hash> receives_;
  std::map<OffloadKey, std::map<Rank, OffloadRequest*>> offloads_;
  std::map<LaneId, std::set<Rank>> participants_;
  std::map<std::uint64_t, Region> regions_; // by key
  std::map<ChannelKey, Channel> channels_;
  std::uint64_t last_key_ = 0;
  bool by_turns_;
  std::chrono::steady_clock::time_point deadline_;
  std::optional<Error> failure_;
};

} // namespace kumihimo::transport
