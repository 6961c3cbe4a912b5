// The offset of this rank's clock from rank 0's. On one node all processes read the same clock. On several, each rank
// exchanges short messages with rank 0, at the start and at the end of MPI. Rank 0 is taken to have read its clock in
// the middle of the shortest exchange (Cristian, 1989). A line between start and end removes the drift.
#pragma once

#include "mpi/library.hpp"

#include <cstdint>

namespace kumihimo::record {

class Clock {
 public:
  Clock(const mpi::Library& library, std::int64_t skew_ns) : library_(library), skew_ns_(skew_ns) {}

  // The time of this process.
  static std::int64_t now_ns();

  // Measure the offset at the start, where it finds out whether there are several nodes, and at the end. Collective.
  void begin();
  void end(mpi::Handle world);

  bool has_begun() const { return has_begun_; }
  bool several_nodes() const { return several_nodes_; }
  std::int64_t offset_ns() const { return last_.offset_ns; }
  // A time of this rank's clock as a time of rank 0's clock.
  std::int64_t on_rank_0(std::int64_t ns) const;

 private:
  struct Offset {
    std::int64_t at_ns = 0, offset_ns = 0;
  };
  Offset measure(mpi::Handle world) const;
  std::int64_t own_now_ns() const { return now_ns() + skew_; }

  const mpi::Library& library_;
  std::int64_t skew_ns_, skew_ = 0;
  bool several_nodes_ = false;
  bool has_begun_ = false;
  Offset first_, last_;
};

} // namespace kumihimo::record
