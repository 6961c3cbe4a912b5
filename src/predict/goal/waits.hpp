// How many operations each operation still waits for.
#pragma once

#include "base/link_pool.hpp"
#include "goal/graph.hpp"

#include <algorithm>
#include <optional>
#include <vector>

namespace kumihimo::goal {

// Of operations that wait for several: how many are left. Few wait at a time, so that a short list of each rank serves;
// of a rank where many do, all its operations get a counter.
class Waits {
 public:
  explicit Waits(std::int32_t ranks) : first_(static_cast<std::size_t>(ranks), no_link) {}

  // One less. The time from which the operation may start once none is left.
  std::optional<Time> one_less(std::int32_t rank, const Graph& graph, std::uint32_t operation, Time ready) {
    const std::uint32_t waits_for = graph.operations[operation].waits_for;
    if (waits_for == 1) return ready;
    std::uint32_t& first = first_[static_cast<std::size_t>(rank)];
    if (first >= tables_from && first != no_link)
      return counted(tables_[first - tables_from][operation], waits_for, ready);
    std::uint32_t length = 0;
    for (std::uint32_t* at = &first; *at != no_link; at = &pool_[*at].next, ++length) {
      Link& link = pool_[*at];
      if (link.operation != operation) continue;
      link.ready = std::max(link.ready, ready);
      if (--link.left > 0) return std::nullopt;
      const Time when = link.ready;
      const std::uint32_t taken = *at;
      *at = link.next;
      pool_.give_back(taken);
      return when;
    }
    if (length > longest_list) {
      move_to_table(first, graph);
      return counted(tables_.back()[operation], waits_for, ready);
    }
    first = pool_.take({operation, waits_for - 1, ready, first});
    return std::nullopt;
  }

  // The same for `count` dependents from the first; fn(operation, time) for those that may start.
  template <class Fn>
  void less(std::int32_t rank, const Graph& graph, std::uint32_t first, std::uint32_t count, Time ready, Fn&& fn) {
    for (std::uint32_t d = first; d < first + count; ++d)
      if (const auto when = one_less(rank, graph, graph.dependents[d], ready)) fn(graph.dependents[d], *when);
  }

  // Into the cache: the rank's list, then its first entry.
  [[gnu::always_inline]] void prefetch(std::int32_t rank) const {
    __builtin_prefetch(&first_[static_cast<std::size_t>(rank)]);
  }
  [[gnu::always_inline]] void prefetch_first(std::int32_t rank) const {
    const std::uint32_t first = first_[static_cast<std::size_t>(rank)];
    if (first < tables_from) __builtin_prefetch(&pool_[first]);
  }

 private:
  static constexpr std::uint32_t tables_from = 0x80000000U, longest_list = 16;
  struct Link {
    std::uint32_t operation = 0, left = 0;
    Time ready = 0;
    std::uint32_t next = no_link;
  };
  struct Counter {
    Time ready = 0;
    std::uint32_t less = 0;
  };

  static std::optional<Time> counted(Counter& counter, std::uint32_t waits_for, Time ready) {
    counter.ready = std::max(counter.ready, ready);
    return ++counter.less == waits_for ? std::optional(counter.ready) : std::nullopt;
  }
  void move_to_table(std::uint32_t& first, const Graph& graph) {
    std::vector<Counter> table(graph.operations.size());
    for (std::uint32_t at = first; at != no_link;) {
      const Link& link = pool_[at];
      table[link.operation] = {link.ready, graph.operations[link.operation].waits_for - link.left};
      const std::uint32_t next = link.next;
      pool_.give_back(at);
      at = next;
    }
    first = tables_from + static_cast<std::uint32_t>(tables_.size());
    tables_.push_back(std::move(table));
  }

  std::vector<std::uint32_t> first_; // by rank: into the pool, or tables_from + into the tables
  LinkPool<Link> pool_;
  std::vector<std::vector<Counter>> tables_;
};

} // namespace kumihimo::goal
