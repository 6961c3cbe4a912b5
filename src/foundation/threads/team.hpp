// The threads of this process: how many kernels use, and on which processors they run.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace kumihimo::threads {

// Threads of a parallel region from now on, 1 or more; OpenMP's. Error: fewer than 1, or more than
// OpenMP's limit or 64 a processor (1,024 are always allowed).
Status use(int threads);
int count();

// While it exists, parallel regions have this many threads (1 where use() refuses them); then what the caller had is
// back.
class TeamSize {
 public:
  explicit TeamSize(int threads);
  ~TeamSize();
  TeamSize(const TeamSize&) = delete;
  TeamSize& operator=(const TeamSize&) = delete;

 private:
  int threads_before_, dynamic_before_;
};

// Processors that this process may run on: the first hardware thread of each core, then the second ones. They are those
// of the first call, because bind() leaves each thread only one.
const std::vector<int>& allowed_processors();

// Binds each thread of the team to one allowed processor, those of rank r after those of rank r - 1. `local_rank`:
// among the ranks that may run on the same processors, which all have as many threads; 0 for ranks that the launcher
// has bound to processors of their own. Threads that outnumber the processors share them in turn. Does nothing if the
// user has set OMP_PROC_BIND or OMP_PLACES. Returns a text for the user: "2 threads on processors 0 1".
//
// The project binds its threads itself: OMP_PROC_BIND=true gives the first processor to every rank of a node.
std::string bind(int local_rank = 0);
// Lets the calling thread run on all allowed processors again.
void unbind();

// Runs `work` in a thread of its own, with a team of `team` threads on any allowed processors, and waits for it. The
// team of the caller keeps its threads and their processors: OpenMP would end threads that a smaller team does not
// need, and start others, all on the processor of the caller, for the next one. What bind() does within ends with it.
void run_apart(int team, const std::function<void()>& work);

} // namespace kumihimo::threads
