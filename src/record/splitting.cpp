#include "record/splitting.hpp"

#include "record/sampling.hpp"

#include <sched.h>

#include <cstdio>
#include <limits>

namespace kumihimo::record {

std::vector<std::int64_t> Splitting::entries(const Communicator& communicator) const {
  std::vector<std::int64_t> times;
  times.reserve(communicator.samples.size());
  for (const Sample& sample : communicator.samples)
    times.push_back(sample.counts ? clock_.on_rank_0(sample.entry_ns) : std::numeric_limits<std::int64_t>::min());
  return times;
}

void Splitting::divide(Communicator& communicator, const std::vector<std::int64_t>& last) const {
  for (std::size_t i = 0; i < last.size(); ++i) {
    const Sample& sample = communicator.samples[i];
    if (!sample.row) continue;
    const std::int64_t entry = clock_.on_rank_0(sample.entry_ns);
    const Split split = split_of(entry, entry + (sample.exit_ns - sample.entry_ns), last[i]);
    ++sample.row->split_calls;
    sample.row->split_ns += sample.exit_ns - sample.entry_ns;
    sample.row->waiting_ns += split.waiting_ns;
    sample.row->transferring_ns += split.transferring_ns;
  }
  communicator.samples.clear();
}

void Splitting::split(Communicator& communicator) const {
  const std::vector<std::int64_t> mine = entries(communicator);
  std::vector<std::int64_t> last(mine.size());
  if (!mine.empty() && library_.call.Allreduce(mine.data(), last.data(), static_cast<int>(mine.size()),
                                               library_.datatype(DataType::int64), library_.operation(Operation::max),
                                               communicator.handle) == 0)
    divide(communicator, last);
}

void Splitting::split(const std::vector<Communicator*>& communicators) const {
  std::vector<std::vector<std::int64_t>> mine, last;
  std::vector<mpi::Handle> requests;
  for (const Communicator* c : communicators) {
    mine.push_back(entries(*c));
    last.emplace_back(mine.back().size());
  }
  for (std::size_t i = 0; i < communicators.size(); ++i) {
    mpi::Handle request = 0;
    if (library_.call.Iallreduce(mine[i].data(), last[i].data(), static_cast<int>(mine[i].size()),
                                 library_.datatype(DataType::int64), library_.operation(Operation::max),
                                 communicators[i]->handle, reinterpret_cast<mpi::Handle*>(&request)) != 0)
      return;
    requests.push_back(request);
  }
  wait_for(requests);
  for (std::size_t i = 0; i < communicators.size(); ++i) divide(*communicators[i], last[i]);
}

// A rank on which the recorder was lost would never come: that is said, not waited for in silence.
void Splitting::wait_for(std::vector<mpi::Handle>& requests) const {
  constexpr std::int64_t patience_ns = 60'000'000'000;
  const std::int64_t begun = Clock::now_ns();
  bool told = false;
  for (mpi::Handle& request : requests)
    for (int done = 0; !done;) {
      mpi::StatusWords status;
      if (library_.call.Test(&request, &done, &status) != 0) return;
      if (done) break;
      sched_yield();
      if (told || Clock::now_ns() - begun < patience_ns) continue;
      told = true;
      std::fprintf(stderr,
                   "kumihimo: one rank has waited a minute for the others at the end of MPI; do all of them run "
                   "with the recorder?\n");
    }
}

} // namespace kumihimo::record
