// How to wait for other processes of the same machine: spin for about a microsecond, since that is how long another
// core takes to answer; then give the processor away at every turn, since the one waited for may need it. Long spins
// are what makes MPI libraries a thousand times slower when ranks outnumber cores.
#pragma once

#include <cstdint>

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

// Processors that this process may run on.
std::int32_t available_processors();

} // namespace kumihimo::mpi
