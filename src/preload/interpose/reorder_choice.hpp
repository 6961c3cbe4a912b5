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
struct ReorderedProcesses {
  std::vector<std::int64_t> node;    // of each: a place of `network`, or without one any number, the same on one node
  std::optional<Shape> network;      // the torus or mesh that the nodes are joined by
  std::vector<std::int32_t> package; // of each, any number; -1: not known, then the node counts as one. Empty: of none
};

// Traffic is weighed by hops on the network; without one, all bytes between nodes count alike.
struct NewRanks {
  struct Costs {
    std::int64_t before = 0, after = 0;
    // Only then is it worth a second communicator: at least 2 % less.
    bool fall() const { return after < before - before / 50; }
  };
  std::vector<std::int32_t> of_process; // a permutation
  Costs nodes;                          // hop-bytes, or bytes between nodes
  Costs packages;                       // bytes between packages of the same node
  bool are_better() const { return nodes.fall() || (nodes.after == nodes.before && packages.fall()); }
};

// `traffic` is between ranks, of which process p now has rank p. `grid`: that the ranks form in row-major order, if
// any. Bytes between nodes fall, or the order stays; of packages likewise, where those between nodes stay. The search
// of mapping/choice, or the usual orders alone where pairs of partners and 16 times the ranks are more than 500,000.
// Errors: a host that cannot be made.
Result<NewRanks> choose_ranks(const Traffic& traffic, const ReorderedProcesses& processes,
                              const std::optional<Shape>& grid);

// What these ranks cost: for orders that come from elsewhere.
Result<NewRanks> judge_ranks(const Traffic& traffic, const ReorderedProcesses& processes,
                             std::vector<std::int32_t> of_process);

} // namespace kumihimo::interpose
