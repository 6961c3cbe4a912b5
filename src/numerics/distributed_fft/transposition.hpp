// The exchange between two stages of a transform: before it each rank has the points of one box, after it those of
// another. Stages write where bricks say, so that no loop packs; they read where the points have come, so that none
// unpacks.
#pragma once

#include "application/runtime.hpp"
#include "distributed_fft/exchange_ranks.hpp"
#include "fft/bricks.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace kumihimo::distributed_fft {

class Transposition {
 public:
  virtual ~Transposition() = default;
  // Where the stage before it writes, and the stage after it reads. Bands are numbered from 0.
  std::span<const fft::Brick> target() const { return target_; }
  std::span<const fft::Brick> source() const { return source_; }

  // For each exchange, in this order:
  virtual Status reserve() { return Nothing{}; }  // waits until the target may be written
  virtual Status start() { return Nothing{}; }    // it is written
  virtual Status finish() { return Nothing{}; }   // waits until the source may be read
  virtual void release() {}                       // it is read
  virtual double bytes_sent() const { return 0; } // to other ranks, by one exchange

 protected:
  std::vector<fft::Brick> target_, source_;
};

struct TranspositionTask {
  std::vector<fft::PointBox> before, after; // of each rank
  std::int64_t bands = 1;                   // at once

  std::int64_t points_before(std::int32_t rank) const {
    return bands * before[static_cast<std::size_t>(rank)].points();
  }
  bool moves_nothing() const { return before == after; }
};

// The boxes are the same: one array.
Result<std::unique_ptr<Transposition>> make_local(const TranspositionTask& task, std::int32_t rank);
// By an alltoall schedule of the registry ("pairwise") with the lengths of these blocks, between `ranks`, whose boxes
// the task has. Collective over all ranks. Errors: there is no such algorithm, or it takes no blocks of different
// lengths; no memory.
Result<std::unique_ptr<Transposition>> make_messages(const TranspositionTask& task, const std::string& algorithm,
                                                     ExchangeRanks ranks);
// Ranks write into memory of the node, and read each other's. Collective. Errors: ranks on several nodes; no memory.
// There each plane of a box is longer than its points: planes of a power of two would share a few sets of the caches.
double padded_points(const fft::PointBox& box); // of one band
Result<std::unique_ptr<Transposition>> make_window(const TranspositionTask& task, application::Runtime& runtime);

} // namespace kumihimo::distributed_fft
