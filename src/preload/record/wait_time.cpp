#include "record/wait_time.hpp"

#include <sched.h>

#include <cstdio>
#include <limits>
#include <utility>

namespace kumihimo::record {

std::vector<std::int64_t> WaitTime::entries(const std::vector<Sample>& samples) const {
  std::vector<std::int64_t> times;
  times.reserve(samples.size());
  for (const Sample& sample : samples)
    times.push_back(sample.counts ? clock_.on_rank_0(sample.entry_ns) : std::numeric_limits<std::int64_t>::min());
  return times;
}

void WaitTime::divide(const Reduction& reduction) const {
  for (std::size_t i = 0; i < reduction.samples.size(); ++i) {
    const Sample& sample = reduction.samples[i];
    if (!sample.row) continue;
    const Completion::Call call =
        sample.completion ? sample.completion->call() : Completion::Call{sample.entry_ns, sample.exit_ns, 1};
    if (call.requests == 0) continue; // not complete: the program freed the communicator before
    const std::int64_t entry = clock_.on_rank_0(call.entry_ns);
    const std::int64_t took = call.exit_ns - call.entry_ns;
    const Split split = split_of(entry, entry + took, reduction.last[i], sample.may_leave_before);
    const std::int64_t waiting = split.waiting_ns / call.requests, whole = took / call.requests;
    ++sample.row->split_calls;
    sample.row->split_ns += sample.weight * whole;
    sample.row->waiting_ns += sample.weight * waiting;
    sample.row->transferring_ns += sample.weight * (whole - waiting);
    for (RegionCounts* region : sample.regions) region->waiting_ns += sample.weight * waiting;
  }
}

// Null if the library cannot start it: its samples are left out.
std::unique_ptr<WaitTime::Reduction> WaitTime::begun(RecordedCommunicator& communicator) const {
  auto reduction = std::make_unique<Reduction>();
  reduction->samples = std::exchange(communicator.samples, {});
  reduction->mine = entries(reduction->samples);
  reduction->last.resize(reduction->mine.size());
  const int code = library_.call.Iallreduce(
      reduction->mine.data(), reduction->last.data(), static_cast<int>(reduction->mine.size()),
      library_.datatype(DataType::int64), library_.operation(Operation::max), communicator.handle, &reduction->request);
  return code == 0 ? std::move(reduction) : nullptr;
}

void WaitTime::split(const std::vector<RecordedCommunicator*>& communicators) {
  std::vector<std::unique_ptr<Reduction>> reductions;
  for (RecordedCommunicator* communicator : communicators)
    if (auto reduction = begun(*communicator)) reductions.push_back(std::move(reduction));
  WaitWarning warning;
  for (std::unique_ptr<Reduction>& reduction : reductions) complete(std::move(reduction), warning);
}

void WaitTime::split_rest() {
  std::vector<std::unique_ptr<Reduction>> rest;
  {
    const std::lock_guard lock(mutex_);
    rest.swap(left_);
  }
  WaitWarning warning;
  for (std::unique_ptr<Reduction>& reduction : rest) complete(std::move(reduction), warning);
}

void WaitTime::split_before_free(RecordedCommunicator& communicator) {
  const mpi::Handle handle = communicator.handle;
  std::unique_ptr<Reduction> reduction = begun(communicator);
  const std::lock_guard lock(mutex_);
  // Each holds a communicator, of which a library has a few thousand: what has ended since goes first.
  std::erase_if(left_, [this](std::unique_ptr<Reduction>& each) { return complete_if_ended(each); });
  if (!reduction || complete_if_ended(reduction)) return;
  if (hold(*reduction, handle))
    left_.push_back(std::move(reduction));
  else
    keep_for_good(std::move(reduction));
}

// Whether nothing is left to do; the library may have failed. With the mutex.
bool WaitTime::complete_if_ended(std::unique_ptr<Reduction>& reduction) const {
  int done = 0;
  mpi::StatusWords status;
  if (library_.call.Test(&reduction->request, &done, &status) != 0) return keep_for_good(std::move(reduction)), true;
  if (!done) return false;
  divide(*reduction);
  release(std::move(reduction));
  return true;
}

// A freed communicator stays until what uses it has ended. Open MPI forgets to count non-blocking collectives there,
// but counts receives: so there is one, from this rank itself with a tag that nobody uses.
bool WaitTime::hold(Reduction& reduction, mpi::Handle communicator) const {
  constexpr int unused_tag = 31997;
  const mpi::Handle byte = library_.constants.byte;
  int rank = 0;
  reduction.is_held =
      library_.call.Comm_rank(communicator, &rank) == 0 &&
      library_.call.Irecv(&reduction.held, 1, byte, rank, unused_tag, communicator, &reduction.hold) == 0;
  return reduction.is_held;
}

void WaitTime::release(std::unique_ptr<Reduction> reduction) const {
  if (!reduction->is_held) return;
  mpi::StatusWords status;
  if (library_.call.Cancel(&reduction->hold) != 0 || library_.call.Wait(&reduction->hold, &status) != 0)
    keep_for_good(std::move(reduction));
}

// The library writes to the buffers of one that fails, perhaps at any time.
void WaitTime::complete(std::unique_ptr<Reduction> reduction, WaitWarning& warning) {
  if (!ended(reduction->request, warning)) return keep_for_good(std::move(reduction));
  const std::lock_guard lock(mutex_); // samples may be of other threads' rows
  divide(*reduction);
  release(std::move(reduction));
}

void WaitTime::keep_for_good(std::unique_ptr<Reduction> reduction) {
  static std::mutex mutex;
  static auto* const all = new std::vector<std::unique_ptr<Reduction>>;
  const std::lock_guard lock(mutex);
  all->push_back(std::move(reduction));
}

bool WaitTime::ended(mpi::Handle& request, WaitWarning& warning) const {
  for (int done = 0; !done;) {
    mpi::StatusWords status;
    if (library_.call.Test(&request, &done, &status) != 0) return false;
    if (done) break;
    sched_yield();
    warning.warn_if_late();
  }
  return true;
}

void WaitTime::WaitWarning::warn_if_late() {
  constexpr std::int64_t patience_ns = 60'000'000'000;
  if (told || Clock::now_ns() - begun_ns < patience_ns) return;
  told = true;
  std::fprintf(stderr, "kumihimo: one rank has waited 60 s for the others; check that all of them run with the "
                       "recorder\n");
}

} // namespace kumihimo::record
