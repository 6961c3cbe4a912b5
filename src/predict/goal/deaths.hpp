// Ranks that die while graphs of operations run, and when each operation ended.
#pragma once

#include "goal/graph.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace kumihimo::goal {

inline constexpr Time never = std::numeric_limits<Time>::max();

// When each rank dies, by rank; empty: none does. From this time on no operation of the rank starts or ends, and no
// message leaves it or arrives at it.
using Deaths = std::vector<Time>;

inline bool is_dead(const Deaths& deaths, std::int32_t rank, Time time) {
  return !deaths.empty() && time >= deaths[static_cast<std::size_t>(rank)];
}

// When each operation of all ranks ended. 8 bytes an operation.
class Ends {
 public:
  explicit Ends(const Graphs& graphs) {
    first_.reserve(static_cast<std::size_t>(graphs.ranks()));
    std::size_t operations = 0;
    for (std::int32_t rank = 0; rank < graphs.ranks(); ++rank) {
      first_.push_back(operations);
      operations += graphs.of(rank).operations.size();
    }
    times_.resize(operations, never);
  }

  void set(std::int32_t rank, std::uint32_t operation, Time time) { times_[place_of(rank, operation)] = time; }
  Time of(std::int32_t rank, std::uint32_t operation) const { return times_[place_of(rank, operation)]; } // or never

 private:
  std::size_t place_of(std::int32_t rank, std::uint32_t operation) const {
    return first_[static_cast<std::size_t>(rank)] + operation;
  }
  std::vector<std::size_t> first_; // by rank
  std::vector<Time> times_;
};

} // namespace kumihimo::goal
