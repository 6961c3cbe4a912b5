// How much of the time in blocking collectives was waiting: the entry times that were kept are compared with the last
// rank's, by one reduction a communicator.
#pragma once

#include "record/clock.hpp"
#include "record/communicators.hpp"

#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

namespace kumihimo::record {

// Which of a communicator's blocking collectives have their entry times kept: the first 256, then 128 of each doubling
// of the number of calls. It goes by the call's number alone, which is the same on all ranks. Each stands for as many
// calls as lie between it and the next, so that the first ones count no more than others.
inline constexpr std::uint64_t all_sampled_below = 256;

// For how many calls the one of this number stands: 0 if it is not looked at.
constexpr std::uint64_t weight_of(std::uint64_t call) {
  if (call < all_sampled_below) return 1;
  const std::uint64_t step = std::bit_floor(call) / (all_sampled_below / 2);
  return call % step == 0 ? step : 0;
}

// For whom a rank waits in a blocking collective.
enum class WaitsFor : std::uint8_t {
  all,             // the last of all
  root,            // the root alone, which waits for nobody
  all_by_the_root, // the root for the last of all; another rank at most for the root, and it may leave before
  cannot_be_told,  // by one time of entry: lower ranks in a scan, neighbours
};

// How the time of one call divides: waiting for the last to enter, as far as this rank was in the call then. In a call
// which a rank may leave before that, one that has left did not wait for it.
struct Split {
  std::int64_t waiting_ns = 0, transferring_ns = 0;
};
constexpr Split split_of(std::int64_t entry_ns, std::int64_t exit_ns, std::int64_t last_entry_ns,
                         bool may_leave_before = false) {
  const std::int64_t whole = exit_ns - entry_ns;
  std::int64_t waiting = last_entry_ns - entry_ns;
  if (waiting < 0) waiting = 0;
  if (waiting > whole) waiting = may_leave_before ? 0 : whole;
  return {waiting, whole - waiting};
}

class WaitTime {
 public:
  WaitTime(const mpi::Library& library, const Clock& clock) : library_(library), clock_(clock) {}

  // One that is about to be freed, by all its ranks together; or all that live at the end, at once: the ranks may have
  // them in any order.
  void split(const std::vector<Communicator*>& communicators) const;

 private:
  std::vector<std::int64_t> entries(const Communicator& communicator) const;
  void divide(Communicator& communicator, const std::vector<std::int64_t>& last) const;
  struct Reduction {
    Communicator* communicator = nullptr;
    std::vector<std::int64_t> mine, last;
    mpi::Handle request = 0;
  };
  static void keep_for_good(std::unique_ptr<Reduction> reduction);
  // A rank on which the recorder was lost would never come: that is said, not waited for in silence.
  struct WaitWarning {
    std::int64_t begun_ns = Clock::now_ns();
    bool told = false;
    void warn_if_late();
  };
  // Whether it has; not where the library knows of an error.
  bool ended(mpi::Handle& request, WaitWarning& warning) const;

  const mpi::Library& library_;
  const Clock& clock_;
};

} // namespace kumihimo::record
