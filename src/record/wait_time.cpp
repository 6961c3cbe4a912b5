#include "record/wait_time.hpp"

#include <sched.h>

#include <cstdio>
#include <limits>
#include <mutex>
#include <utility>

namespace kumihimo::record {

std::vector<std::int64_t> WaitTime::entries(const Communicator& communicator) const {
  std::vector<std::int64_t> times;
  times.reserve(communicator.samples.size());
  for (const Sample& sample : communicator.samples)
    times.push_back(sample.counts ? clock_.on_rank_0(sample.entry_ns) : std::numeric_limits<std::int64_t>::min());
  return times;
}

void WaitTime::divide(Communicator& communicator, const std::vector<std::int64_t>& last) const {
  for (std::size_t i = 0; i < last.size(); ++i) {
    const Sample& sample = communicator.samples[i];
    if (!sample.row) continue;
    const std::int64_t entry = clock_.on_rank_0(sample.entry_ns);
    const std::int64_t took = sample.exit_ns - sample.entry_ns;
    const Split split = split_of(entry, entry + took, last[i], sample.may_leave_before);
    ++sample.row->split_calls;
    sample.row->split_ns += sample.weight * took;
    sample.row->waiting_ns += sample.weight * split.waiting_ns;
    sample.row->transferring_ns += sample.weight * split.transferring_ns;
  }
  communicator.samples.clear();
}

// A reduction that cannot be started is left out. The others are completed, because the library writes to their
// buffers.
void WaitTime::split(const std::vector<Communicator*>& communicators) const {
  std::vector<std::unique_ptr<Reduction>> reductions;
  for (Communicator* c : communicators) {
    auto reduction = std::make_unique<Reduction>(Reduction{c, entries(*c), {}});
    reduction->last.resize(reduction->mine.size());
    if (library_.call.Iallreduce(reduction->mine.data(), reduction->last.data(),
                                 static_cast<int>(reduction->mine.size()), library_.datatype(DataType::int64),
                                 library_.operation(Operation::max), c->handle, &reduction->request) == 0)
      reductions.push_back(std::move(reduction));
    else
      c->samples.clear();
  }
  WaitWarning warning;
  for (std::unique_ptr<Reduction>& reduction : reductions)
    if (ended(reduction->request, warning)) {
      divide(*reduction->communicator, reduction->last);
    } else { // it may never complete, and write to its buffers at any time
      reduction->communicator->samples.clear();
      keep_for_good(std::move(reduction));
    }
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
