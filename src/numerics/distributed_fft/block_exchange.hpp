// An exchange of blocks of points, one for each pair of ranks: what an alltoallv does, with the buffers that it needs.
#pragma once

#include "base/result.hpp"
#include "fft/bricks.hpp"

#include <cstdint>

namespace kumihimo::distributed_fft {

class BlockExchange {
 public:
  virtual ~BlockExchange() = default;
  virtual fft::PointPointer block_to(std::int32_t rank) = 0;   // which this rank writes
  virtual fft::PointPointer block_from(std::int32_t rank) = 0; // which it reads

  // For each exchange, in this order:
  virtual Status reserve() { return Nothing{}; } // waits until blocks may be written
  virtual Status start() = 0;                    // they are written
  virtual Status finish() = 0;                   // waits until blocks may be read
  virtual void release() {}                      // they are read

  virtual double bytes_sent() const { return 0; }    // by messages to other ranks, as the blocks say
  virtual double bytes_counted() const { return 0; } // by all exchanges so far, as the engine counted its messages
};

} // namespace kumihimo::distributed_fft
