// Threads that sweep over skewed tiles, one behind the other: temporal blocking of stencils (M. Wolf and M. Lam, "A
// data locality optimizing algorithm", PLDI 1991; wavefronts of threads: G. Wellein et al., COMPSAC 2009).
#pragma once

#include "threads/team.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace kumihimo::threads {

// Calls work(tile, step) for all tiles and steps. A tile's steps are in order; step s of a tile begins when step s of
// the tile before it is done. Tiles go round the threads of the team in turn. A tile that waits goes on when the one
// before it is `ahead` steps ahead, or done: threads that follow each other step by step take cache lines from each
// other. `work` may not throw.
template <class Work>
void run_pipeline(std::int64_t tiles, std::int64_t steps, std::int64_t ahead, const Work& work) {
  struct alignas(64) Done {
    std::atomic<std::int64_t> steps{0};
  };
  std::vector<Done> done(static_cast<std::size_t>(tiles));
#pragma omp parallel num_threads(count())
  {
    const int team = omp_get_num_threads(); // may be fewer than asked for: one within a parallel region
    for (std::int64_t tile = omp_get_thread_num(); tile < tiles; tile += team) {
      Done& mine = done[static_cast<std::size_t>(tile)];
      std::int64_t ready = tile > 0 ? 0 : steps; // steps of the tile before that are known to be done
      for (std::int64_t step = 0; step < steps; ++step) {
        for (int spins = 0; ready <= step; ++spins) {
          const std::int64_t seen = done[static_cast<std::size_t>(tile) - 1].steps.load(std::memory_order_acquire);
          if (seen >= std::min(step + ahead, steps)) ready = seen;
          if (spins > 1000) std::this_thread::yield(); // there may be more threads than processors
        }
        work(tile, step);
        mine.steps.store(step + 1, std::memory_order_release);
      }
    }
  }
}

} // namespace kumihimo::threads
