// Plans made before, found again by the key of a call. Every call pays for the look-up, and a small collective takes a
// third of a microsecond in all: a look-up is one hash, which the key computes, and nearly always one comparison.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace kumihimo::problem {

// `Key` has operator== and hash(), whose upper half is well mixed.
template <class Key, class Plan>
class PlanCache {
 public:
  // The plan of this key, or null.
  Plan* find(const Key& key) const {
    for (std::size_t i = home_of(key);; i = (i + 1) & mask_) {
      const Entry& entry = entries_[i];
      if (!entry.plan) return nullptr;
      if (entry.key == key) return entry.plan.get();
    }
  }

  // Replaces the plan of this key, if there is one.
  Plan& keep(const Key& key, std::unique_ptr<Plan> plan) {
    make_room(1);
    std::size_t i = home_of(key);
    while (entries_[i].plan && !(entries_[i].key == key)) i = (i + 1) & mask_;
    size_ += !entries_[i].plan;
    entries_[i] = {key, std::move(plan)};
    return *entries_[i].plan;
  }
  std::int64_t size() const { return size_; }
  // Reserves memory for `more` plans. The next `more` calls of keep() allocate nothing.
  void make_room(std::int64_t more) {
    while (2 * (size_ + more) > static_cast<std::int64_t>(entries_.size())) grow();
  }

 private:
  struct Entry {
    Key key;
    std::unique_ptr<Plan> plan;
  };
  std::size_t home_of(const Key& key) const { return static_cast<std::size_t>(key.hash() >> 32) & mask_; }
  void grow() {
    std::vector<Entry> old =
        std::exchange(entries_, std::vector<Entry>(std::max<std::size_t>(16, 2 * entries_.size())));
    mask_ = entries_.size() - 1;
    size_ = 0;
    for (Entry& entry : old)
      if (entry.plan) keep(entry.key, std::move(entry.plan));
  }

  std::vector<Entry> entries_ = std::vector<Entry>(1); // a power of two, at most half full; many caches stay empty
  std::size_t mask_ = 0;
  std::int64_t size_ = 0;
};

} // namespace kumihimo::problem
