// Receives that wait for messages, and messages that wait for receives. Both are taken in the order in which they came.
#pragma once

#include "base/hash.hpp"
#include "base/link_pool.hpp"
#include "goal/graph.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace kumihimo::goal {

struct Envelope {
  std::int32_t receiver = 0, sender = 0; // of a receive the sender may be any_peer
  std::uint32_t tag = 0;
  bool operator==(const Envelope&) const = default;
};

// What waits at `rank`: a receive of it, or the send of `envelope.sender`.
struct Waiting {
  Envelope envelope;
  std::uint32_t operation = 0;
  bool message = false;
};

// Of ranks at which many wait, without wildcards: at one envelope either receives wait or messages. O(1).
class ExactMatching {
 public:
  // The oldest receive (or message) at this envelope, which is taken away; or this message (receive) waits.
  std::optional<Waiting> match(const Envelope& envelope, std::uint32_t operation, bool message) {
    if (used_ * 2 >= slots_.size()) grow();
    std::size_t at = place_of(envelope);
    Slot& slot = slots_[at];
    if (slot.count == 0) {
      slot = {envelope, operation, 1, no_link, no_link, message};
      ++used_;
      return std::nullopt;
    }
    if (slot.message == message) {
      append(slot, operation);
      return std::nullopt;
    }
    const Waiting found{envelope, slot.operation, slot.message};
    if (--slot.count > 0) {
      const std::uint32_t next = slot.first;
      slot.operation = pool_[next].operation, slot.first = pool_[next].next;
      pool_.give_back(next);
    } else {
      erase(at);
    }
    return found;
  }

  template <class F>
  void for_each(F&& fn) const {
    for (const Slot& slot : slots_) {
      if (slot.count == 0) continue;
      fn(Waiting{slot.envelope, slot.operation, slot.message});
      for (std::uint32_t i = 1, at = slot.first; i < slot.count; ++i, at = pool_[at].next)
        fn(Waiting{slot.envelope, pool_[at].operation, slot.message});
    }
  }

 private:
  struct Slot {
    Envelope envelope;
    std::uint32_t operation = 0;                   // the oldest
    std::uint32_t count = 0;                       // 0: the slot is free
    std::uint32_t first = no_link, last = no_link; // of the others
    bool message = false;
  };
  struct Link {
    std::uint32_t operation = 0, next = no_link;
  };

  static std::uint64_t hash(const Envelope& e) {
    return mixed(static_cast<std::uint64_t>(static_cast<std::uint32_t>(e.receiver)) << 32 |
                     static_cast<std::uint32_t>(e.sender),
                 e.tag);
  }
  std::size_t place_of(const Envelope& envelope) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t at = hash(envelope) & mask;
    while (slots_[at].count > 0 && !(slots_[at].envelope == envelope)) at = (at + 1) & mask;
    return at;
  }
  void append(Slot& slot, std::uint32_t operation) {
    const std::uint32_t at = pool_.take({operation, no_link});
    (slot.count == 1 ? slot.first : pool_[slot.last].next) = at;
    slot.last = at;
    ++slot.count;
  }
  // Those behind it move up, so that each is found from its own place on.
  void erase(std::size_t at) {
    const std::size_t mask = slots_.size() - 1;
    --used_;
    for (std::size_t next = (at + 1) & mask; slots_[next].count > 0; next = (next + 1) & mask) {
      const std::size_t own = hash(slots_[next].envelope) & mask;
      if (((next - own) & mask) < ((next - at) & mask)) continue;
      slots_[at] = slots_[next];
      at = next;
    }
    slots_[at].count = 0;
  }
  void grow() {
    std::vector<Slot> old(std::max<std::size_t>(64, 2 * slots_.size()));
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.count > 0) slots_[place_of(slot.envelope)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
  LinkPool<Link> pool_;
};

// Without wildcards: a short list at each rank, so that ranks served one after the other lie side by side in memory;
// where it grows long, the rank's entries are in a table from then on.
class NearMatching {
 public:
  explicit NearMatching(std::int32_t ranks) : first_(static_cast<std::size_t>(ranks), no_link) {}

  std::optional<Waiting> match(const Envelope& envelope, std::uint32_t operation, bool message) {
    std::uint32_t& first = first_[static_cast<std::size_t>(envelope.receiver)];
    if (first == in_table) return table_.match(envelope, operation, message);
    std::uint32_t* found = nullptr; // the last in the list is the oldest
    std::uint32_t length = 0;
    for (std::uint32_t* at = &first; *at != no_link; at = &pool_[*at].next, ++length) {
      const Link& link = pool_[*at];
      if (link.sender == envelope.sender && link.tag == envelope.tag && link.message != message) found = at;
    }
    if (found) {
      const std::uint32_t taken = *found;
      const Waiting waiting{envelope, pool_[taken].operation, !message};
      *found = pool_[taken].next;
      pool_.give_back(taken);
      return waiting;
    }
    if (length == longest) {
      move_to_table(envelope.receiver);
      return table_.match(envelope, operation, message);
    }
    first = pool_.take({envelope.sender, envelope.tag, operation, first, message});
    return std::nullopt;
  }

  template <class F>
  void for_each(F&& fn) const {
    for (std::size_t rank = 0; rank < first_.size(); ++rank)
      if (first_[rank] != in_table)
        for (std::uint32_t at = first_[rank]; at != no_link; at = pool_[at].next)
          fn(waiting(static_cast<std::int32_t>(rank), pool_[at]));
    table_.for_each(fn);
  }

  // Into the cache: the rank's list, then its first entry. Always inline: GCC drops calls of what only prefetches.
  [[gnu::always_inline]] void prefetch(std::int32_t rank) const {
    __builtin_prefetch(&first_[static_cast<std::size_t>(rank)]);
  }
  [[gnu::always_inline]] void prefetch_first(std::int32_t rank) const {
    const std::uint32_t first = first_[static_cast<std::size_t>(rank)];
    if (first < in_table) __builtin_prefetch(&pool_[first]);
  }
  // The receive that came last and still waits, if nothing came after it; a guess at what a message will find.
  std::optional<std::uint32_t> first(std::int32_t rank) const {
    const std::uint32_t first = first_[static_cast<std::size_t>(rank)];
    if (first >= in_table || pool_[first].message) return std::nullopt;
    return pool_[first].operation;
  }

 private:
  static constexpr std::uint32_t in_table = no_link - 1, longest = 16;
  struct Link {
    std::int32_t sender = 0;
    std::uint32_t tag = 0, operation = 0, next = no_link;
    bool message = false;
  };

  static Waiting waiting(std::int32_t rank, const Link& link) {
    return {{rank, link.sender, link.tag}, link.operation, link.message};
  }
  void move_to_table(std::int32_t rank) {
    std::array<Waiting, longest> all;
    std::uint32_t count = 0;
    for (std::uint32_t at = first_[static_cast<std::size_t>(rank)]; at != no_link;) {
      all[count++] = waiting(rank, pool_[at]);
      const std::uint32_t next = pool_[at].next;
      pool_.give_back(at);
      at = next;
    }
    while (count-- > 0) table_.match(all[count].envelope, all[count].operation, all[count].message);
    first_[static_cast<std::size_t>(rank)] = in_table;
  }

  std::vector<std::uint32_t> first_; // by receiver
  LinkPool<Link> pool_;
  ExactMatching table_;
};

// With wildcards: two lists at each rank, searched from their beginning.
class ListMatching {
 public:
  explicit ListMatching(std::int32_t ranks) : at_(static_cast<std::size_t>(ranks)) {}

  std::optional<Waiting> match(const Envelope& envelope, std::uint32_t operation, bool message) {
    auto& of_rank = at_[static_cast<std::size_t>(envelope.receiver)];
    auto& others = of_rank[message ? 0 : 1];
    for (auto it = others.begin(); it != others.end(); ++it)
      if (fits(it->envelope, envelope)) {
        const Waiting found = *it;
        others.erase(it);
        return found;
      }
    of_rank[message ? 1 : 0].push_back({envelope, operation, message});
    return std::nullopt;
  }

  template <class F>
  void for_each(F&& fn) const {
    for (const auto& of_rank : at_)
      for (const auto& list : of_rank)
        for (const Waiting& each : list) fn(each);
  }
  void prefetch(std::int32_t) const {}
  void prefetch_first(std::int32_t) const {}
  std::optional<std::uint32_t> first(std::int32_t) const { return std::nullopt; }

 private:
  static bool fits(const Envelope& a, const Envelope& b) {
    const bool sender = a.sender == b.sender || a.sender == any_peer || b.sender == any_peer;
    return sender && (a.tag == b.tag || a.tag == any_tag || b.tag == any_tag);
  }
  std::vector<std::array<std::deque<Waiting>, 2>> at_; // receives, messages
};

} // namespace kumihimo::goal
