// Which process of a communicator should have which rank of a topology: the search behind reorder.hpp, on one rank.
#pragma once

#include "base/result.hpp"
#include "mapping/objective/host.hpp"
#include "traffic/traffic.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace kumihimo::interpose {

// The processes that are to be reordered.
struct Processes {
  std::vector<std::int64_t> node; // of each: a place of `network`, or without one any number, the same on one node
  std::optional<Shape> network;   // the torus or mesh that the nodes are joined by
};

// Traffic is weighed by hops on the network; without one, all bytes between nodes count alike.
struct NewRanks {
  std::vector<std::int32_t> of_process; // a permutation
  std::int64_t before = 0, after = 0;   // hop-bytes, or bytes between nodes
  // Only then is it worth a second communicator: at least 2 % less.
  bool is_better() const { return after < before - before / 50; }
};

// `traffic` is between ranks, of which process p now has rank p. `grid`: that the ranks form in row-major order, if
// any. Never worse than as it is. At most about 1e8 distances are looked up. Errors: a host that cannot be made.
Result<NewRanks> choose_ranks(const Traffic& traffic, const Processes& processes, const std::optional<Shape>& grid);

// What these ranks cost: for orders that come from elsewhere.
Result<NewRanks> judge_ranks(const Traffic& traffic, const Processes& processes, std::vector<std::int32_t> of_process);

} // namespace kumihimo::interpose
