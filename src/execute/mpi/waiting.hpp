// How to wait for other processes of the same machine: spin for about a microsecond, since that is how long another
// core takes to answer; then give the processor away at every turn, since the one waited for may need it. Long spins
// are what makes MPI libraries a thousand times slower when ranks outnumber cores.
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace kumihimo::mpi {

class Waiting {
 public:
  // `crowded`: more ranks than processors, so that a spin mostly keeps the one waited for from running.
  explicit Waiting(bool crowded = false) : spins_(crowded ? 4 : 50) {}

  // One turn. True every so many turns: drive the libraries below now.
  bool turn();
  // Something moved: the next wait begins anew.
  void reset() { turns_ = 0; }

 private:
  std::int32_t spins_;
  std::int32_t turns_ = 0;
};

// The processors that this process may run on, a bit each. Launchers bind processes, so that how many processors the
// ranks of a node have is known only from the masks of all of them.
using ProcessorMask = std::array<std::uint64_t, 16>;
ProcessorMask processor_mask();
std::int32_t processors_in(std::span<const ProcessorMask> masks); // in any of them; at least 1

} // namespace kumihimo::mpi
