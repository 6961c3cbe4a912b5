// What a collective gives by its definition in the MPI standard, whatever the algorithm: whose elements come where, or
// whose are combined. It shares nothing with schedules; the golden copy and the MPI library's own result must both
// agree with it.
#pragma once

#include "bench_driver/golden.hpp"
#include "schedule/collective.hpp"

#include <cstdint>
#include <functional>
#include <vector>

namespace kumihimo::bench_driver {

// Elements that a rank gets from another one's input.
struct Piece {
  std::int32_t from = 0;
  std::int64_t first = 0, count = 0;
  bool operator==(const Piece&) const = default;
};

// One after the other in the result of `rank`, for collectives that only move data; where it has none, none. From rank
// -1: memory that must stay as it is, where there is no neighbour.
std::vector<Piece> pieces_moved(const Collective& collective, Rank rank);
// The same elements of each of these ranks, in rank order, for those that reduce.
std::vector<Piece> pieces_reduced(const Collective& collective, Rank rank);

class Definition {
 public:
  using Inputs = std::function<Vector(std::int32_t rank)>; // of all ranks, which are asked for one by one

  // Needs the memory of two results and of one input.
  Definition(const Collective& collective, Rank rank, const Inputs& inputs, const Combine& plain);

  // The first element that is not what it may be; -1: all are. Exact, but for sums and products of floats: they may
  // differ from those in rank order by what two orders can differ (Higham, Accuracy and Stability of Numerical
  // Algorithms, section 4.2).
  std::int64_t first_wrong(const std::byte* result) const;

 private:
  void move(const std::vector<Piece>& pieces, const Inputs& inputs);
  void reduce(const std::vector<Piece>& pieces, const Inputs& inputs, const Combine& plain);

  Collective c_;
  std::size_t contributions_ = 1;
  bool rounds_ = false;
  Vector expected_, magnitude_; // the latter of what rounds
};

} // namespace kumihimo::bench_driver
