// The exchange between two stages of a transform: before it each rank has the points of one box, after it those of
// another. Stages write where bricks say, so that no loop packs; they read where the points have come, so that none
// unpacks.
#pragma once

#include "base/result.hpp"
#include "distributed_fft/block_table.hpp"
#include "fft/bricks.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace kumihimo::distributed_fft {

class Transposition {
 public:
  virtual ~Transposition() = default;
  // Where the stage before it writes, and the stage after it reads. Bands are numbered from 0.
  std::span<const fft::Brick> target() const { return target_; }
  std::span<const fft::Brick> source() const { return source_; }

  // For each exchange, in this order:
  virtual Status reserve() { return Nothing{}; }     // waits until the target may be written
  virtual Status start() { return Nothing{}; }       // it is written; called for each piece in turn
  virtual Status finish() { return Nothing{}; }      // waits until the source may be read
  virtual void release() {}                          // it is read
  virtual double bytes_sent() const { return 0; }    // to other ranks, by one exchange
  virtual double bytes_counted() const { return 0; } // the same by all so far, as the engine counted its messages
  virtual std::int32_t pieces() const { return 1; }

 protected:
  std::vector<fft::Brick> target_, source_;
};

struct TranspositionTask {
  std::vector<fft::PointBox> before, after; // of each rank of the exchange
  std::int64_t bands = 1;                   // at once
};

// The lengths of the blocks between these ranks.
BlockTable blocks_of(const TranspositionTask& task);

} // namespace kumihimo::distributed_fft
