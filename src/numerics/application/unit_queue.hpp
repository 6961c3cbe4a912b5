// Units of work dealt to the ranks as they ask for more, by the rule of base/unit_deal.hpp. The first part of the units
// is dealt beforehand, without messages; rank 0 deals the rest.
#pragma once

#include "base/result.hpp"
#include "base/unit_deal.hpp"
#include "transport/transport.hpp"

#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

namespace kumihimo::application {

class UnitQueue {
 public:
  // Collective. `transport` outlives the queue; null: one rank, which gets all units.
  static Result<std::unique_ptr<UnitQueue>> make(transport::Transport* transport, std::int32_t rank,
                                                 std::int32_t ranks);

  // Collective: begins to deal units of these costs. `static_share` of the whole cost (0 to 1) is dealt beforehand.
  void begin(std::span<const double> costs, double static_share);
  // The next unit of this rank; -1: none is left, or the transport has failed. Any thread calls it, but only the one
  // that began (`is_first`) sends and receives, so that one must ask as long as it gets units, too.
  std::int64_t next(bool is_first);
  // Collective, by the thread that began, after next() gave -1: rank 0 serves the others to their end. Error: the
  // transport's.
  Status end();

 private:
  using Chunk = UnitDeal::Chunk;
  // A message with a chunk for content, to or from one rank.
  struct Letter {
    Chunk chunk;
    std::int32_t open = 0;
    transport::SendRequest send;
    transport::ReceiveRequest receive;
  };
  struct Peer {
    Letter question, answer;
    std::int64_t chunks = 0; // asked for so far
    bool served = false;     // knows that no unit is left
  };

  UnitQueue(transport::Transport* transport, std::int32_t rank, std::int32_t ranks)
      : transport_(transport), rank_(rank), ranks_(ranks), peers_(rank == 0 ? static_cast<std::size_t>(ranks) : 1) {}
  Peer& peer(std::int32_t rank) { return peers_[rank_ == 0 ? static_cast<std::size_t>(rank) : 0]; }
  void send(Letter& letter, std::int32_t to, std::int64_t ordinal);
  void receive(Letter& letter, std::int32_t from, std::int64_t ordinal);
  bool serve(); // by rank 0: answers questions that have come; whether anything moved
  bool fetch(); // by the others: asks, and takes the answer; whether anything moved
  bool move();
  void take(const Chunk& chunk);

  transport::Transport* transport_;
  std::int32_t rank_, ranks_;
  std::vector<Peer> peers_; // of rank 0 all ranks, of the others rank 0
  std::uint64_t instance_ = 0;
  UnitDeal deal_;

  std::mutex mutex_; // of mine_
  std::deque<Chunk> mine_;
  std::atomic<std::int64_t> left_ = 0; // units of mine_
  std::atomic<bool> complete_ = false; // no chunk will come
};

} // namespace kumihimo::application
