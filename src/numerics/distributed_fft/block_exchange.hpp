// An exchange of blocks of points, one for each pair of ranks: what an alltoallv does, with the buffers that it needs.
#pragma once

#include "application/runtime.hpp"
#include "distributed_fft/exchange_ranks.hpp"
#include "fft/bricks.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::distributed_fft {

class BlockExchange {
 public:
  virtual ~BlockExchange() = default;
  virtual fft::Complex* block_to(std::int32_t rank) = 0;   // which this rank writes
  virtual fft::Complex* block_from(std::int32_t rank) = 0; // which it reads

  // For each exchange, in this order:
  virtual Status reserve() { return Nothing{}; } // waits until blocks may be written
  virtual Status start() = 0;                    // they are written
  virtual Status finish() = 0;                   // waits until blocks may be read
  virtual void release() {}                      // they are read

  virtual double bytes_sent() const { return 0; } // by messages to other ranks
};

// points[from ranks + to]: of each block, the same table on all ranks.
struct BlockTable {
  std::int32_t ranks = 1;
  std::vector<std::int64_t> points;
  std::int64_t at(std::int32_t from, std::int32_t to) const {
    return points[static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(to)];
  }
};

// By an alltoall schedule of the registry ("pairwise") between `ranks`, of which the table is. On one rank it copies
// nothing. Collective over all ranks, whose rows and columns each have as many. Errors: there is no such algorithm, or
// it takes no blocks of different lengths, where these differ; no memory.
Result<std::unique_ptr<BlockExchange>> exchange_by_messages(const BlockTable& table, const std::string& algorithm,
                                                            ExchangeRanks ranks);
// Ranks write into memory of the node, and read each other's. Collective. Errors: ranks on several nodes; no memory.
Result<std::unique_ptr<BlockExchange>> exchange_by_window(const BlockTable& table, application::Runtime& runtime);

} // namespace kumihimo::distributed_fft
