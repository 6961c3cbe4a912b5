// Where the requests of a rank started that have not ended yet: few at a time, of many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace kumihimo::replay {

// A table of slots one behind the other; request 0 is none.
class PendingRequests {
 public:
  void put(std::uint32_t request, std::uint32_t at) {
    if (2 * (used_ + 1) > slots_.size()) grow();
    Slot& slot = slots_[place_of(request)];
    used_ += slot.request == 0;
    slot = {request, at};
  }
  std::optional<std::uint32_t> take(std::uint32_t request) {
    if (used_ == 0 || request == 0) return std::nullopt;
    std::size_t at = place_of(request);
    if (slots_[at].request == 0) return std::nullopt;
    const std::uint32_t found = slots_[at].at;
    --used_;
    // Those behind it move up, so that each is found from its own place on.
    const std::size_t mask = slots_.size() - 1;
    for (std::size_t next = (at + 1) & mask; slots_[next].request != 0; next = (next + 1) & mask) {
      const std::size_t own = home_of(slots_[next].request);
      if (((next - own) & mask) < ((next - at) & mask)) continue;
      slots_[at] = slots_[next];
      at = next;
    }
    slots_[at] = {};
    return found;
  }
  template <class Fn>
  void for_each(Fn&& fn) const {
    for (const Slot& slot : slots_)
      if (slot.request != 0) fn(slot.at);
  }

 private:
  struct Slot {
    std::uint32_t request = 0, at = 0;
  };
  // Requests are numbered in their order, so that those under way have places beside each other.
  std::size_t home_of(std::uint32_t request) const { return request & (slots_.size() - 1); }
  std::size_t place_of(std::uint32_t request) const {
    std::size_t at = home_of(request);
    while (slots_[at].request != 0 && slots_[at].request != request) at = (at + 1) & (slots_.size() - 1);
    return at;
  }
  void grow() {
    std::vector<Slot> old(slots_.empty() ? 16 : 2 * slots_.size());
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.request != 0) slots_[place_of(slot.request)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t used_ = 0;
};

} // namespace kumihimo::replay
