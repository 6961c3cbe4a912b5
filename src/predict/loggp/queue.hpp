// The events that are still to come, the earliest first; of equal times in their order. A radix heap (R. Ahuja, K.
// Mehlhorn, J. Orlin, R. Tarjan, Faster Algorithms for the Shortest Path Problem, JACM 1990): no event is earlier than
// the one that was taken last, so that each moves at most once for each bit of its time, and all moves are sequential.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <memory>
#include <queue>
#include <vector>

namespace kumihimo::loggp {

enum class LogGopsEventKind : std::uint8_t { start, arrival, wake }; // wake: of operations that wait for a processor

struct LogGopsEvent {
  std::uint64_t time = 0;
  std::uint64_t order = 0; // of equal times the lower one is first
  std::int32_t rank = 0, sender = 0;
  std::uint32_t operation = 0; // of `rank`; of an arrival: the send of `sender`
  LogGopsEventKind kind = LogGopsEventKind::start;
  bool has_waited = false; // found its processor or interface busy
};

// Events in pieces of one size, which the buckets of a queue exchange, so that no memory is held twice.
class EventBucket {
 public:
  static constexpr std::size_t in_piece = 2048;
  using Piece = std::array<LogGopsEvent, in_piece>;
  using Pieces = std::vector<std::unique_ptr<Piece>>;

  std::size_t size() const { return size_; }
  LogGopsEvent& operator[](std::size_t i) { return (*pieces_[i / in_piece])[i % in_piece]; }
  const LogGopsEvent& operator[](std::size_t i) const { return (*pieces_[i / in_piece])[i % in_piece]; }

  void push(const LogGopsEvent& event, Pieces& spare) {
    if (size_ == pieces_.size() * in_piece) {
      if (spare.empty()) spare.push_back(std::make_unique<Piece>());
      pieces_.push_back(std::move(spare.back()));
      spare.pop_back();
    }
    (*this)[size_++] = event;
  }
  // Of events [0, i) the memory, as far as they fill it.
  void release(std::size_t i, Pieces& spare) {
    if (i == 0 || i % in_piece != 0) return;
    spare.push_back(std::move(pieces_[i / in_piece - 1]));
  }
  // Once all that is before the last piece was released.
  void clear(Pieces& spare) {
    for (auto& piece : pieces_)
      if (piece) spare.push_back(std::move(piece));
    pieces_.clear();
    size_ = 0;
  }

 private:
  Pieces pieces_;
  std::size_t size_ = 0;
};

class EventQueue {
 public:
  // An event at the time of the one taken last must have a higher order than all there are.
  void push(const LogGopsEvent& event) {
    assert(event.time >= now_);
    buckets_[bucket_of(event.time)].push(event, spare_);
  }

  // An event at the time of the one taken last, whatever its order.
  void insert(const LogGopsEvent& event) {
    assert(event.time == now_);
    inserted_.push(event);
  }

  // The next one, which stays valid until the next push or take; null: there is none.
  const LogGopsEvent* take() {
    const bool has_due = next_ < buckets_[0].size();
    if (!inserted_.empty() && (!has_due || inserted_.top().order < buckets_[0][next_].order)) {
      taken_ = inserted_.top();
      inserted_.pop();
      return &taken_;
    }
    if (!has_due && !refill()) return nullptr;
    buckets_[0].release(next_, spare_);
    return &buckets_[0][next_++];
  }
  // The n-th after the one taken last, if it is at the same time.
  const LogGopsEvent* ahead(std::size_t n) const {
    return next_ + n < buckets_[0].size() ? &buckets_[0][next_ + n] : nullptr;
  }

 private:
  std::size_t bucket_of(std::uint64_t time) const {
    return time == now_ ? 0 : static_cast<std::size_t>(64 - std::countl_zero(time ^ now_));
  }

  bool refill() {
    EventBucket& due = buckets_[0];
    due.clear(spare_);
    next_ = 0;
    const auto found =
        std::find_if(buckets_.begin() + 1, buckets_.end(), [](const auto& bucket) { return bucket.size() > 0; });
    if (found == buckets_.end()) return false;
    std::uint64_t first = (*found)[0].time, last = first;
    for (std::size_t i = 1; i < found->size(); ++i)
      first = std::min(first, (*found)[i].time), last = std::max(last, (*found)[i].time);
    now_ = first;
    if (first == last) {
      std::swap(due, *found);
    } else {
      for (std::size_t i = 0; i < found->size(); ++i) {
        found->release(i, spare_);
        const LogGopsEvent& event = (*found)[i];
        buckets_[bucket_of(event.time)].push(event, spare_);
      }
      found->clear(spare_);
    }
    sort(due);
    return true;
  }

  static void sort(EventBucket& due) {
    bool sorted = true;
    for (std::size_t i = 1; i < due.size() && sorted; ++i) sorted = due[i - 1].order < due[i].order;
    if (sorted) return;
    std::vector<LogGopsEvent> events;
    events.reserve(due.size());
    for (std::size_t i = 0; i < due.size(); ++i) events.push_back(due[i]);
    std::sort(events.begin(), events.end(),
              [](const LogGopsEvent& a, const LogGopsEvent& b) { return a.order < b.order; });
    for (std::size_t i = 0; i < due.size(); ++i) due[i] = events[i];
  }

  std::uint64_t now_ = 0;
  std::size_t next_ = 0; // in the first bucket, whose events are now
  struct Behind {
    bool operator()(const LogGopsEvent& a, const LogGopsEvent& b) const { return a.order > b.order; }
  };
  std::priority_queue<LogGopsEvent, std::vector<LogGopsEvent>, Behind> inserted_; // are now, too
  LogGopsEvent taken_;
  std::array<EventBucket, 65> buckets_;
  EventBucket::Pieces spare_;
};

} // namespace kumihimo::loggp
