// What part of a machine's torus a job gets, and whether it closes there.
#pragma once

#include "topology/topology.hpp"
#include "topology/torus.hpp"

namespace kumihimo {

struct TorusMachine {
  //   own     switches between partitions close every job's torus
  //   part    a job is a box of the machine's torus, closed along axes that it has in full, else a mesh (Cray)
  //   blocks  a job of whole blocks is a torus, a smaller one a mesh (512 nodes on Blue Gene/P, 64 chips of TPU v4)
  enum class Jobs : std::uint8_t { own, part, blocks };

  Shape shape; // of its nodes; the last axis is that of a router's nodes where there are several
  std::int32_t nodes_per_router = 1;
  Jobs jobs = Jobs::own;
  Shape block; // blocks only; has the axes of `shape`, without that of a router's nodes

  TopologyPtr network(const Shape& job) const; // of a job of this shape, which place() gave

  // The shape that a job of these lengths sees. Errors, but for `own`: other axes than the machine has, longer ones,
  // lengths that are neither shorter than a block nor whole ones.
  Result<Shape> place(const Shape& job) const;
};

} // namespace kumihimo
