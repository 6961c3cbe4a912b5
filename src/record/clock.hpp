// The ranks' clocks against rank 0's. On one node all processes read the same clock. On several, each rank exchanges
// short messages with rank 0, at the start and at the end of MPI: of the exchange that came back soonest, the middle is
// taken to be the moment at which rank 0 read its clock (Cristian, 1989; a line between start and end takes the drift
// out).
#pragma once

#include "mpi/library.hpp"

#include <cstdint>

namespace kumihimo::record {

class Clock {
 public:
  Clock(const mpi::Library& library, std::int64_t skew_ns) : library_(library), skew_ns_(skew_ns) {}

  // Of this process.
  static std::int64_t now_ns();

  // Collective over the world: at the start, where it finds out whether there are several nodes, and at the end.
  void begin();
  void end(mpi::Handle world);

  bool has_begun() const { return has_begun_; }
  bool several_nodes() const { return several_nodes_; }
  std::int64_t offset_ns() const { return last_.offset_ns; }
  // A time of this rank's clock on rank 0's.
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
