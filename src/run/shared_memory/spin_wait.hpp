// Waiting for other processes of the same machine: spin for about a microsecond, which another core needs to answer,
// then yield the processor at every turn, because the other process may need it. Long spins make MPI libraries a
// thousand times slower when ranks outnumber cores.
//
// Where they do not, another program may still share the processor, and a yield gives it a whole time slice, of some
// milliseconds, at each wait. So after a yield that took long, waits spin for as long as that yield took before they
// yield again: at most twice the time of whichever would have been better.
#pragma once

#include <cstdint>

namespace kumihimo::shared_memory {

void relax(); // the processor, for a moment, between two looks of a spin

class SpinWait {
 public:
  // `oversubscribed`: more ranks than processors, where a spin mostly keeps the awaited process from running.
  explicit SpinWait(bool oversubscribed = false) : SpinWait(oversubscribed, oversubscribed ? 4 : 50) {}
  SpinWait(bool oversubscribed, std::int32_t spins) : oversubscribed_(oversubscribed), spins_(spins) {}

  // One turn. Every 16 turns true: call poll() now. A wait may last for hours.
  bool turn();
  // After something moved: the next wait starts anew.
  void reset() { spun_ = turns_since_poll_ = 0, patient_since_ns_ = 0; }

  bool spins() const { return spun_ < spins_; } // whether the next turn is one of the first, which spin

  bool yields_at_once() const { return oversubscribed_; }
  // How long a yield took; turn() says so.
  void note_yield(std::int64_t ns);
  std::int64_t patience_ns() const { return patience_ns_; } // for which a wait spins after the first turns

 private:
  bool is_patient();

  bool oversubscribed_;
  std::int32_t spins_;
  std::int32_t spun_ = 0;             // at most spins_
  std::int32_t turns_since_poll_ = 0; // below turns_between_polls
  std::int64_t patience_ns_ = 0;
  std::int64_t patient_since_ns_ = 0; // 0: not in this wait
};

inline constexpr std::int32_t turns_between_polls = 16;

} // namespace kumihimo::shared_memory
