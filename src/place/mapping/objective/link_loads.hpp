// The bytes that each directed link carries, under the network's real routes.
#pragma once

#include "mapping/objective/assignment.hpp"
#include "mapping/objective/host.hpp"
#include "traffic/traffic.hpp"

#include <utility>

namespace kumihimo::mapping {

class LinkLoads {
 public:
  // Loads of all flows. O(flows x hops). The three must live as long. Bytes of one link sum to at most `most_traffic`.
  LinkLoads(const Traffic& traffic, const MappingHost& host, const Assignment& assignment);

  std::int64_t max() const { return tree_[1]; }
  std::int64_t on(LinkId link) const { return tree_[leaves_ + static_cast<std::size_t>(link.value)]; }

  // Changes by exchange(rank, slot), a row for each link that changes: O(degree of both x hops).
  using Change = std::vector<std::pair<LinkId, std::int64_t>>;
  const Change& change(const Assignment& assignment, std::int32_t rank, std::int32_t slot);
  // Amount that the change adds to the sum over all links of max(0, load - cap), saturated.
  std::int64_t excess_added(const Change& change, std::int64_t cap) const;
  void apply(const Change& change);

 private:
  void set(std::size_t leaf, std::int64_t load);
  void add_route(std::int32_t from, std::int32_t to, std::int64_t bytes);

  const Traffic* traffic_;
  const MappingHost* host_;
  std::int64_t links_ = 0;
  std::size_t leaves_ = 1;
  std::vector<std::int64_t> tree_; // node i has the greatest load below it: of 2i and 2i + 1; links begin at leaves_
  std::vector<std::int64_t> to_first_;
  std::vector<std::pair<std::int32_t, std::int64_t>> to_; // flows by receiver: sender, bytes
  // While a change is collected: what each link gains, and which links are touched.
  std::vector<std::int64_t> gain_;
  std::vector<std::int64_t> touched_;
  std::vector<LinkId> route_;
  Change change_;
};

// All loads at once, by link number. The plain form of the above.
std::vector<std::int64_t> link_loads(const Traffic& traffic, const MappingHost& host, const Assignment& assignment);

} // namespace kumihimo::mapping
