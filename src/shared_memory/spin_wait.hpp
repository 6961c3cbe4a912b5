// Waiting for other processes of the same machine: spin for about a microsecond, which another core needs to answer,
// then yield the processor at every turn, because the other process may need it. Long spins make MPI libraries a
// thousand times slower when ranks outnumber cores.
#pragma once

#include <cstdint>

namespace kumihimo::shared_memory {

class SpinWait {
 public:
  // `oversubscribed`: more ranks than processors, where a spin mostly keeps the awaited process from running.
  explicit SpinWait(bool oversubscribed = false) : spins_(oversubscribed ? 4 : 50) {}

  // One turn. Every 16 turns true: call poll() now. A wait may last for hours.
  bool turn();
  // After something moved: the next wait starts anew.
  void reset() { spun_ = turns_since_poll_ = 0; }

  bool spins() const { return spun_ < spins_; } // whether the next turn spins

 private:
  std::int32_t spins_;
  std::int32_t spun_ = 0;             // at most spins_
  std::int32_t turns_since_poll_ = 0; // below turns_between_polls
};

inline constexpr std::int32_t turns_between_polls = 16;

} // namespace kumihimo::shared_memory
