// A hash table of channels whose entries have numbers and stay in one array, in the order in which they came. Ranks are
// walked in their order, and most talk to ranks as far away as their neighbours do: those channels are neighbours here.
#pragma once

#include "simulate/channel.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace kumihimo::simulation {

template <class Value>
class ChannelTable {
 public:
  using Id = std::int32_t;

  void reserve(std::size_t entries) {
    entries_.reserve(entries);
    if (entries > first_.size()) rehash(std::bit_ceil(entries));
  }
  // The channel's entry, which is added if there is none.
  Id at(const Channel& channel) {
    if (in_use_ >= first_.size()) rehash(std::max<std::size_t>(16, 2 * first_.size()));
    Id& first = first_[slot(channel)];
    for (Id id = first; id >= 0; id = entries_[id].next)
      if (entries_[id].channel == channel) return id;
    const Id id = unused_ < 0 ? static_cast<Id>(entries_.size()) : unused_;
    if (unused_ < 0)
      entries_.emplace_back();
    else
      unused_ = entries_[id].next;
    entries_[id] = {channel, first, true, Value{}};
    ++in_use_;
    return first = id;
  }
  void erase(Id id) {
    Id* link = &first_[slot(entries_[id].channel)];
    while (*link != id) link = &entries_[*link].next;
    *link = entries_[id].next;
    entries_[id].next = unused_, entries_[id].in_use = false;
    unused_ = id;
    --in_use_;
  }
  const Channel& channel(Id id) const { return entries_[id].channel; }
  Value& operator[](Id id) { return entries_[id].value; }
  const Value& operator[](Id id) const { return entries_[id].value; }
  std::size_t size() const { return in_use_; }

  // fn(id) for all entries, in the order of their numbers; it may erase this one.
  template <class F>
  void for_each(F&& fn) const {
    for (Id id = 0; id < static_cast<Id>(entries_.size()); ++id)
      if (entries_[id].in_use) fn(id);
  }
  void clear() {
    std::fill(first_.begin(), first_.end(), Id{-1});
    entries_.clear();
    unused_ = -1, in_use_ = 0;
  }

 private:
  struct Entry {
    Channel channel;
    Id next = -1; // with the same hash; of an unused one, the next unused one
    bool in_use = false;
    Value value;
  };
  std::size_t slot(const Channel& c) const {
    const auto word = [](std::int32_t i) { return static_cast<std::uint32_t>(i); };
    std::uint32_t h = word(c.from - c.to) * 0x9e3779b1U + word(c.lane) * 0x85ebca6bU;
    h ^= h >> 15;
    return (h + word(c.to)) & (first_.size() - 1);
  }
  void rehash(std::size_t slots) {
    first_.assign(slots, -1);
    for (Id id = 0; id < static_cast<Id>(entries_.size()); ++id) {
      if (!entries_[id].in_use) continue;
      Id& first = first_[slot(entries_[id].channel)];
      entries_[id].next = first;
      first = id;
    }
  }

  std::vector<Id> first_; // by hash
  std::vector<Entry> entries_;
  Id unused_ = -1;
  std::size_t in_use_ = 0;
};

} // namespace kumihimo::simulation
