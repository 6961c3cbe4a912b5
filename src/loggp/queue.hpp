// The events that are still to come, the earliest first; of equal times in their order. A radix heap (R. Ahuja, K.
// Mehlhorn, J. Orlin, R. Tarjan, Faster Algorithms for the Shortest Path Problem, JACM 1990): no event is earlier than
// the one that was taken last, so that each moves at most once for each bit of its time, and all moves are sequential.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

namespace kumihimo::loggp {

enum class EventKind : std::uint8_t { start, arrival };

struct Event {
  std::uint64_t time = 0;
  std::uint64_t order = 0; // of equal times the lower one is first
  std::int32_t rank = 0, sender = 0;
  std::uint32_t operation = 0; // of `rank`; of an arrival: the send of `sender`
  EventKind kind = EventKind::start;
};

class EventQueue {
 public:
  // An event at the time of the one taken last must have a higher order than all there are.
  void push(const Event& event) {
    assert(event.time >= now_);
    buckets_[bucket_of(event.time)].push_back(event);
  }

  // The next one, which stays valid until the next push or take; null: there is none.
  const Event* take() {
    if (next_ == buckets_[0].size() && !refill()) return nullptr;
    return &buckets_[0][next_++];
  }
  // The n-th after the one taken last, if it is at the same time.
  const Event* ahead(std::size_t n) const { return next_ + n < buckets_[0].size() ? &buckets_[0][next_ + n] : nullptr; }

 private:
  std::size_t bucket_of(std::uint64_t time) const {
    return time == now_ ? 0 : static_cast<std::size_t>(64 - std::countl_zero(time ^ now_));
  }

  static void empty(std::vector<Event>& bucket) {
    constexpr std::size_t kept = 1 << 20; // events; memory of more is returned
    if (bucket.capacity() > kept)
      bucket = {};
    else
      bucket.clear();
  }

  bool refill() {
    empty(buckets_[0]);
    next_ = 0;
    const auto found =
        std::find_if(buckets_.begin() + 1, buckets_.end(), [](const auto& bucket) { return !bucket.empty(); });
    if (found == buckets_.end()) return false;
    const auto earlier = [](const Event& a, const Event& b) { return a.time < b.time; };
    const auto [first, last] = std::minmax_element(found->begin(), found->end(), earlier);
    const bool at_once = first->time == last->time;
    now_ = first->time;
    if (at_once)
      buckets_[0].swap(*found);
    else
      for (const Event& event : *found) buckets_[bucket_of(event.time)].push_back(event);
    empty(*found);
    const auto before = [](const Event& a, const Event& b) { return a.order < b.order; };
    if (!std::is_sorted(buckets_[0].begin(), buckets_[0].end(), before))
      std::sort(buckets_[0].begin(), buckets_[0].end(), before);
    return true;
  }

  std::uint64_t now_ = 0;
  std::size_t next_ = 0; // in the first bucket, whose events are now
  std::array<std::vector<Event>, 65> buckets_;
};

} // namespace kumihimo::loggp
