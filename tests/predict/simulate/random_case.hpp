// Random cases for both models: any algorithm, on any small machine, of any length, with any parameters. Machines are
// tori and meshes, fat trees, dragonflies and single nodes with levels; nodes have equally or unequally many ranks, in
// any order.
#pragma once

#include "support.hpp"

#include <random>

namespace kumihimo::simulate_test {

struct RandomCase {
  const Variant* variant = nullptr;
  Job job;
  std::int64_t bytes = 0; // of the vector, or of a block
  DataType type = DataType::float64;
  Rank root = Rank{0};
  Parameters parameters;
  std::optional<Placement> placement = {};
  std::string order = {};  // of the placement, by name
  std::string counts = {}; // of irregular blocks, as spread_counts has them; empty: equal blocks
  bool in_place = false;

  Result<Schedule> schedule(std::int64_t with_bytes) const;
  Result<Schedule> schedule() const { return schedule(bytes); }
  std::string text() const;
};

class RandomCases {
 public:
  explicit RandomCases(std::uint64_t seed) : random_(seed), of_windows_(seed) {}
  // Whether their schedules can be built is for the caller to find out.
  RandomCase next();   // any case
  RandomCase looped(); // loops whose peers change, on a torus with a rank a node: for symmetry and for samples
  RandomCase usual();  // a shipped machine, lengths up to 16 MiB, mostly without parameters: as users ask

 private:
  std::int64_t between(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool one_in(std::int64_t n) { return between(1, n) == 1; }
  std::int64_t spread(std::int64_t least, std::int64_t most); // log-uniform
  std::string shape();
  Job job();
  Machine on_a_torus();
  Machine on_switches();
  Machine of_levels();
  Parameters parameters(const Variant& variant);

  std::mt19937_64 random_, of_windows_; // apart, so that the other cases stay those of a seed
};

} // namespace kumihimo::simulate_test
