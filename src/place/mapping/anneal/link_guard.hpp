// Link loads, as an annealing of hop-bytes minds them.
#pragma once

#include "mapping/objective/link_loads.hpp"

#include <vector>

namespace kumihimo::mapping {

// Excess is the sum over all links of the load above the cap. With a price, a byte of it counts as so many hop-bytes.
// Without one (0), moves that add excess are refused.
class LinkGuard {
 public:
  LinkGuard(const Traffic& traffic, const MappingHost& host, const Assignment& map, std::int64_t cap)
      : traffic_(traffic), host_(host), cap_(cap), loads_(traffic, host, map) {}

  std::int64_t max() const { return loads_.max(); }
  bool holds() const { return loads_.max() <= cap_; }
  double price = 0;

  // The ranks that send or receive over a link above the cap, each once. Of the map that the loads are of; O(flows).
  void list_busy_ranks(const Assignment& map);
  const std::vector<std::int32_t>& busy_ranks() const { return busy_ranks_; }

  // Whether exchange(rank, slot), which adds these hop-bytes, may be made when up to `limit` are accepted. If so, the
  // loads change with it.
  bool take(const Assignment& map, std::int32_t rank, std::int32_t slot, std::int64_t added, std::int64_t limit);
  // Whether exchange(rank, slot) adds no excess.
  bool admits(const Assignment& map, std::int32_t rank, std::int32_t slot) {
    return loads_.excess_added(loads_.change(map, rank, slot), cap_) <= 0;
  }

 private:
  const Traffic& traffic_;
  const MappingHost& host_;
  std::int64_t cap_ = 0;
  LinkLoads loads_;
  std::vector<std::int32_t> busy_ranks_;
};

} // namespace kumihimo::mapping
