// Steps that have started and wait for their other half. The k-th send of a lane from a to b meets the k-th receive of
// that lane at b from a, and they are served in order: one queue for each lane and pair of ranks.
#pragma once

#include "program/program_set.hpp"
#include "simulate/flow/channel_table.hpp"
#include "simulate/flow/path_time.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kumihimo::simulation {

// A step that has started. In a collapsed loop it stands for `repetitions` messages, which may meet the same number of
// single messages. Millions wait at once on a whole machine: it is small.
struct Posted {
  double bytes = 0, gap = 0; // gap: idle bytes behind it
  double repetitions = 1;
  double sample_weight = 1; // number of messages that it stands for in a sampled loop
  std::int32_t frame = -1;  // waits until the first message is complete; then -1
  std::int32_t instance = -1;
  StepKind kind = StepKind::send;
  bool exact = false; // see FlatStep
  // Set by StepMatching
  std::int32_t start = -1; // among the starts
  std::int32_t next = -1;
  std::uint32_t order = 0; // of posting
};

// The time that a queue is occupied by its last message and the gap behind it.
struct Occupied {
  double until = 0;       // of a collapsed loop: of its first iteration
  bool gap = false;       // the next message may wait for the gap, whenever it is posted
  std::int32_t loop = -1; // a collapsed loop, whose other iterations are added once they are known
};

class StepMatching {
 public:
  enum Side { sends = 0, receives = 1 };
  struct Queue {
    std::int32_t first[2] = {-1, -1}, last[2] = {-1, -1}; // by side
    Occupied occupied;
    bool listed = false; // among the ready ones
    bool ready() const { return first[0] >= 0 && first[1] >= 0; }
    bool empty() const { return first[0] < 0 && first[1] < 0; }
  };
  using Id = ChannelTable<Queue>::Id;

  // Reserves memory for this many steps at once: two halves make a message.
  void reserve(std::size_t steps) { queues_.reserve(steps / 2), pool_.reserve(steps), enough_ = steps; }

  void post(const Channel& channel, Side side, const PathTime& start, const Posted& posted) {
    const Id id = queues_.at(channel);
    Queue& q = queues_[id];
    const std::int32_t at = allocate(pool_, unused_, posted);
    pool_[at].start = start_at(start);
    pool_[at].order = posted_++;
    (q.first[side] < 0 ? q.first[side] : pool_[q.last[side]].next) = at;
    q.last[side] = at;
    list_if_ready(id);
  }

  const Channel& channel(Id queue) const { return queues_.channel(queue); }
  const Occupied& occupied(Id queue) const { return queues_[queue].occupied; }
  Posted& head(Id queue, Side side) { return pool_[queues_[queue].first[side]]; }
  const Posted& head(Id queue, Side side) const { return pool_[queues_[queue].first[side]]; }
  const PathTime& start(const Posted& posted) const { return starts_[posted.start].time; }

  // The heads of this queue have met `repetitions` times; removes exhausted ones. Afterwards the queue may be gone:
  // without a gap, the sender's next round starts only after this message has left, so nothing is remembered.
  void consume(Id queue, double repetitions, const Occupied& occupied) {
    Queue& q = queues_[queue];
    q.listed = false;
    q.occupied = occupied;
    for (const Side side : {sends, receives}) {
      const std::int32_t at = q.first[side];
      Posted& p = pool_[at];
      p.repetitions -= repetitions;
      p.frame = -1;
      if (p.repetitions > 0.5) continue;
      q.first[side] = p.next;
      if (--starts_[p.start].steps == 0) unused_starts_.push_back(p.start);
      unused_.push_back(at);
    }
    if (q.empty() && !occupied.gap)
      queues_.erase(queue);
    else
      list_if_ready(queue);
  }

  // The queues that can be served, in the order of their sends, which stands beside them: a look at each is dear.
  struct Ready {
    std::uint32_t order = 0;
    Id queue = -1;
  };
  std::vector<Ready>& ready() {
    const auto earlier = [](const Ready& a, const Ready& b) { return a.order < b.order; };
    if (!std::is_sorted(ready_.begin(), ready_.end(), earlier)) std::sort(ready_.begin(), ready_.end(), earlier);
    return ready_;
  }
  bool any_ready() const { return !ready_.empty(); }
  void clear_ready() { ready_.clear(); }
  // A queue where somebody waits, and wanted(channel, for which side) holds; -1 without one.
  template <class F>
  Id waiting(F&& wanted) const {
    Id found = -1;
    queues_.for_each([&](Id id) {
      const Queue& q = queues_[id];
      if (found < 0 && !q.empty() && wanted(channel(id), q.first[sends] >= 0 ? receives : sends)) found = id;
    });
    return found;
  }
  bool has_send(Id queue) const { return queues_[queue].first[sends] >= 0; }
  // Queues that are kept for their gaps alone add up where peers change: those whose gaps have passed are let go.
  bool has_stale_queues() const { return queues_.size() > enough_; }
  template <class F>
  void forget(F&& passed) {
    queues_.for_each([&](Id id) {
      if (queues_[id].empty() && passed(queues_[id].occupied)) queues_.erase(id);
    });
    enough_ = std::max(enough_, 2 * queues_.size());
  }
  void clear() {
    queues_.clear(), ready_.clear(), pool_.clear(), unused_.clear();
    starts_.clear(), unused_starts_.clear(), last_start_ = -1;
  }

 private:
  void list_if_ready(Id id) {
    Queue& q = queues_[id];
    if (q.listed || !q.ready()) return;
    q.listed = true;
    ready_.push_back({pool_[q.first[sends]].order, id});
  }
  template <class T>
  static std::int32_t allocate(std::vector<T>& pool, std::vector<std::int32_t>& unused, const T& item) {
    if (unused.empty()) return pool.push_back(item), static_cast<std::int32_t>(pool.size()) - 1;
    const std::int32_t at = unused.back();
    unused.pop_back();
    pool[at] = item;
    return at;
  }
  // The steps of a round start at once, and follow each other.
  std::int32_t start_at(const PathTime& time) {
    const bool same = last_start_ >= 0 && starts_[last_start_].steps > 0 && starts_[last_start_].time == time;
    if (!same) last_start_ = allocate(starts_, unused_starts_, {time});
    return ++starts_[last_start_].steps, last_start_;
  }

  ChannelTable<Queue> queues_;
  std::vector<Ready> ready_;
  std::vector<Posted> pool_;
  std::vector<std::int32_t> unused_;
  struct Start {
    PathTime time;
    std::int32_t steps = 0; // in the pool
  };
  std::vector<Start> starts_;
  std::vector<std::int32_t> unused_starts_;
  std::int32_t last_start_ = -1;
  std::uint32_t posted_ = 0;
  std::size_t enough_ = 0;
};

} // namespace kumihimo::simulation
