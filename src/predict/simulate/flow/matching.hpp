// Steps that have started and wait for their other half. The k-th send of a lane from a to b meets the k-th receive of
// that lane at b from a, and they are served in order: one queue for each lane and pair of ranks.
#pragma once

#include "program/program_set.hpp"
#include "simulate/channel.hpp"

#include <algorithm>
#include <cstdint>
#include <memory_resource>
#include <unordered_map>
#include <vector>

namespace kumihimo::simulation {

// A point in simulated time that remembers how the path to it was spent.
struct PathTime {
  double seconds = 0;
  double transfer = 0, reduction = 0, steady = 0; // parts of it; the rest is latency: costs, hops, relays
  double doubt = 0;    // of it: shared with messages that begin or end at other times, which the model takes to be one
  double meeting = 0;  // not in it: what it may take longer as messages of earlier levels are still under way
  double crowding = 0; // not in it: what reductions on the way would take longer beside those of other lanes
  double flight = 0;   // of the latency: hops and relays, which messages in flight at once pass together
  double entered = -1; // when the path came into the sampled loop that it is in, whose parts are counted from there

  bool operator==(const PathTime&) const = default;
  double latency() const { return seconds - transfer - reduction - steady; }
  PathTime plus_latency(double t) const { return plus(t, 0, 0, 0); }
  PathTime plus_latency_in_flight(double t) const {
    PathTime m = plus_latency(t);
    m.flight += t;
    return m;
  }
  // The same instant as the beginning of a loop of its own.
  PathTime entering() const {
    PathTime m;
    m.seconds = m.entered = seconds;
    return m;
  }
  // Not after `t`: all parts as much smaller as the time is.
  PathTime shortened(double t) const {
    if (t >= seconds) return *this;
    const double share = t / seconds;
    PathTime m = *this;
    for (double* const part :
         {&m.seconds, &m.transfer, &m.reduction, &m.steady, &m.doubt, &m.meeting, &m.crowding, &m.flight})
      *part *= share;
    return m;
  }
  PathTime plus_transfer(double t) const { return plus(t, t, 0, 0); }
  PathTime plus_reduction(double t) const { return plus(t, 0, t, 0); }
  PathTime plus_steady(double t) const { return plus(t, 0, 0, t); }

 private:
  PathTime plus(double t, double moved, double reduced, double steadily) const {
    PathTime m = *this;
    m.seconds += t, m.transfer += moved, m.reduction += reduced, m.steady += steadily;
    return m;
  }
};

inline const PathTime& later(const PathTime& a, const PathTime& b) { return b.seconds > a.seconds ? b : a; }

// For a table that is walked rank by rank: neighbours in rank are neighbours in memory.
struct NearHash {
  std::size_t operator()(const Channel& c) const noexcept {
    return static_cast<std::size_t>(c.to) * 64 + static_cast<std::size_t>(c.from) * 3 +
           static_cast<std::size_t>(c.lane) * 40'503;
  }
};

// A step that has started. In a collapsed loop it stands for `times` messages, which may meet the same number of single
// messages. Millions wait at once on a whole machine: it is small.
struct Posted {
  double bytes = 0, gap = 0; // gap: idle bytes behind it
  double times = 1;
  double weight = 1;       // number of messages like it in the whole of a sampled loop
  std::int32_t frame = -1; // told when the first message is complete; then -1
  std::int32_t instance = -1;
  StepKind kind = StepKind::send;
  bool exact = false; // see FlatStep
  // Set by Matching
  std::int32_t since = -1; // when it started, among the starts
  std::int32_t next = -1;
  std::uint32_t order = 0; // of posting
};

// The time that a queue is occupied by its last message and the gap behind it.
struct Occupied {
  double until = 0;       // of a collapsed loop: of its first iteration
  bool gap = false;       // the next message may wait for the gap, whenever it is posted
  std::int32_t loop = -1; // a collapsed loop, whose other iterations are added once they are known
};

struct Queue {
  std::int32_t first[2] = {-1, -1}, last[2] = {-1, -1}; // sends, receives
  Occupied occupied;
  bool listed = false; // among the ready ones
  bool ready() const { return first[0] >= 0 && first[1] >= 0; }
  bool empty() const { return first[0] < 0 && first[1] < 0; }
};

class Matching {
 public:
  using Entry = std::pair<const Channel, Queue>;
  enum Side { sends = 0, receives = 1 };

  // Reserves memory for this many steps at once: two halves make a message.
  void reserve(std::size_t steps) { queues_.reserve(steps / 2), pool_.reserve(steps), enough_ = steps; }

  void post(const Channel& channel, Side side, const PathTime& since, const Posted& posted) {
    Entry& entry = *queues_.try_emplace(channel).first;
    Queue& q = entry.second;
    const std::int32_t at = allocate(pool_, unused_, posted);
    pool_[at].since = start_at(since);
    pool_[at].order = posted_++;
    (q.first[side] < 0 ? q.first[side] : pool_[q.last[side]].next) = at;
    q.last[side] = at;
    list_if_ready(entry);
  }

  Posted& head(Entry& entry, Side side) { return pool_[entry.second.first[side]]; }
  const Posted& head(const Entry& entry, Side side) const { return pool_[entry.second.first[side]]; }
  const PathTime& since(const Posted& posted) const { return starts_[posted.since].time; }

  // Notes that the heads of this queue have met `times` times, and removes exhausted ones. Afterwards `entry` may be
  // gone: without a gap, the sender's next round starts only after this message has left, so nothing is remembered.
  void consume(Entry& entry, double times, const Occupied& occupied) {
    Queue& q = entry.second;
    q.listed = false;
    q.occupied = occupied;
    for (const Side side : {sends, receives}) {
      Posted& p = head(entry, side);
      p.times -= times;
      p.frame = -1;
      if (p.times > 0.5) continue;
      const std::int32_t gone = q.first[side];
      q.first[side] = p.next;
      if (--starts_[p.since].steps == 0) unused_starts_.push_back(p.since);
      unused_.push_back(gone);
    }
    if (q.empty() && !occupied.gap)
      queues_.erase(entry.first);
    else
      list_if_ready(entry);
  }

  // The queues that can be served, in the order of their sends, which stands beside them: a look at each is dear.
  struct Ready {
    std::uint32_t order = 0;
    Entry* entry = nullptr;
  };
  std::vector<Ready>& ready() {
    const auto earlier = [](const Ready& a, const Ready& b) { return a.order < b.order; };
    if (!std::is_sorted(ready_.begin(), ready_.end(), earlier)) std::sort(ready_.begin(), ready_.end(), earlier);
    return ready_;
  }
  bool any_ready() const { return !ready_.empty(); }
  void clear_ready() { ready_.clear(); }
  // Nobody waits for another half; there may be gaps to remember.
  bool empty() const { return unused_.size() == pool_.size(); }
  // A queue where somebody waits, and wanted(channel, for which side) holds; null without one.
  template <class F>
  const Entry* waiting(F&& wanted) const {
    const auto found = std::find_if(queues_.begin(), queues_.end(), [&](const Entry& entry) {
      return !entry.second.empty() && wanted(entry.first, entry.second.first[sends] >= 0 ? receives : sends);
    });
    return found == queues_.end() ? nullptr : &*found;
  }
  // Queues that are kept for their gaps alone add up where peers change: those whose gaps have passed are let go.
  bool has_stale_queues() const { return queues_.size() > enough_; }
  template <class F>
  void forget(F&& passed) {
    std::erase_if(queues_, [&](const Entry& entry) { return entry.second.empty() && passed(entry.second.occupied); });
    enough_ = std::max(enough_, 2 * queues_.size());
  }
  void clear() {
    queues_.clear(), ready_.clear(), pool_.clear(), unused_.clear();
    starts_.clear(), unused_starts_.clear(), last_start_ = -1;
  }

 private:
  void list_if_ready(Entry& entry) {
    if (entry.second.listed || !entry.second.ready()) return;
    entry.second.listed = true;
    ready_.push_back({head(entry, sends).order, &entry});
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

  std::pmr::unsynchronized_pool_resource memory_; // queues come and go with each round
  std::pmr::unordered_map<Channel, Queue, NearHash> queues_{&memory_};
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
