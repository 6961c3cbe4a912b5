// Separates waiting from transferring in collectives: sampled entry times are compared with the last rank's, by one
// reduction for each communicator. A non-blocking collective waits in the call that completes it, for ranks that have
// not begun it.
#pragma once

#include "base/hash.hpp"
#include "record/clock.hpp"
#include "record/communicators.hpp"

#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

namespace kumihimo::record {

// Samples are a communicator's first 256 blocking collectives, then 128 of each doubling of the number of calls: one
// of each `step` calls that follow one another, which it represents. They depend on the call's number only, which is
// the same on all ranks. Which of the calls it is follows no period, since a program's loop has one: else of two calls
// in a loop always the same one would be sampled.
inline constexpr std::uint64_t all_sampled_below = 256;

// The number of calls that the call of this number represents; 0: it is no sample.
constexpr std::uint64_t weight_of(std::uint64_t call) {
  if (call < all_sampled_below) return 1;
  const std::uint64_t step = std::bit_floor(call) / (all_sampled_below / 2);
  return call % step == mixed(0, call / step) % step ? step : 0;
}

// The ranks that a rank waits for in a blocking collective.
enum class WaitsFor : std::uint8_t {
  all,             // the last of all
  root,            // the root alone, which waits for nobody
  all_by_the_root, // the root waits for all; others at most for the root, before which they may leave
  cannot_be_told,  // by one entry time: scans and neighbour collectives
};

// Splits the time of one call at the entry of the last rank, if this rank was still in the call. A rank that may leave
// before, and did, has not waited.
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

  // Splits the samples of these communicators. Collective; the ranks may pass them in any order.
  void split(const std::vector<RecordedCommunicator*>& communicators);

  // Splits the samples of a communicator that MPI_Comm_free frees next. Does not wait for late ranks: garbage
  // collection frees communicators in another order on each rank, so that ranks would wait for each other for ever.
  // What is not complete is looked at again before the next one is freed.
  void split_before_free(RecordedCommunicator& communicator);
  // Waits for what split_before_free left, when all ranks have freed all.
  void split_rest();

 private:
  struct Reduction {
    std::vector<Sample> samples;
    std::vector<std::int64_t> mine, last;
    mpi::Handle request = 0;
    mpi::Handle hold = 0; // a receive that keeps a freed communicator, if `is_held`
    int held = 0;
    bool is_held = false;
  };
  std::vector<std::int64_t> entries(const std::vector<Sample>& samples) const;
  void divide(const Reduction& reduction) const;
  std::unique_ptr<Reduction> begun(RecordedCommunicator& communicator) const;
  bool complete_if_ended(std::unique_ptr<Reduction>& reduction) const;
  bool hold(Reduction& reduction, mpi::Handle communicator) const;
  void release(std::unique_ptr<Reduction> reduction) const;
  static void keep_for_good(std::unique_ptr<Reduction> reduction);
  // Warns that a rank without the recorder may be missing, so that the others would wait for it for ever.
  struct WaitWarning {
    std::int64_t begun_ns = Clock::now_ns();
    bool told = false;
    void warn_if_late();
  };
  // Waits for a reduction. False: the library failed.
  bool ended(mpi::Handle& request, WaitWarning& warning) const;
  void complete(std::unique_ptr<Reduction> reduction, WaitWarning& warning);

  const mpi::Library& library_;
  const Clock& clock_;
  std::mutex mutex_;                             // of left_, and of the times that divide() adds to
  std::vector<std::unique_ptr<Reduction>> left_; // by split_before_free
};

} // namespace kumihimo::record
