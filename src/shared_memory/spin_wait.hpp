// How to wait for other processes of the same machine: spin for about a microsecond, since that is how long another
// core takes to answer; then give the processor away at every turn, since the one waited for may need it. Long spins
// are what makes MPI libraries a thousand times slower when ranks outnumber cores.
#pragma once

#include <cstdint>

namespace kumihimo::shared_memory {

class SpinWait {
 public:
  // `crowded`: more ranks than processors, so that a spin mostly keeps the one waited for from running.
  explicit SpinWait(bool crowded = false) : spins_(crowded ? 4 : 50) {}

  // One turn. True every so many turns: drive the libraries below now. A wait may last for hours.
  bool turn();
  // Something moved: the next wait begins anew.
  void reset() { spun_ = turns_since_drive_ = 0; }

  bool spins() const { return spun_ < spins_; } // whether the next turn does, rather than yield

 private:
  std::int32_t spins_;
  std::int32_t spun_ = 0;              // at most spins_
  std::int32_t turns_since_drive_ = 0; // below turns_between_drives
};

inline constexpr std::int32_t turns_between_drives = 16;

} // namespace kumihimo::shared_memory
