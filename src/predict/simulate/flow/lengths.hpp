// How many bytes an extent has, as the mean over all segments and over the iterations of loops that one iteration
// stands for: exact sums without iterating, so that bytes on links are what the exact model counts.
#pragma once

#include "base/int128.hpp"
#include "program/data_layout.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <span>

namespace kumihimo::simulation {

struct LoopRange { // variable `depth` runs over [0, trip)
  std::int32_t depth = 0;
  std::int64_t trip = 1;
};

class MeanLengths {
 public:
  MeanLengths(const DataLayout& data, std::int64_t segments) : data_(data), segments_(segments) {}

  // `values` are those of the variables that no range is given for. `rank` tells whose blocks, where counts are local.
  double mean_bytes(const Extent& extent, std::int32_t rank, std::span<const std::int64_t> values,
                    std::span<const LoopRange> loops);

 private:
  struct Run { // parts [first, first + count) of m, then `times - 1` times the same `stride` further
    std::int64_t first = 0, count = 0, stride = 0, times = 1, m = 1;
  };

  Wide elements(const RunList& list, std::int64_t parts, const LoopValues& values, std::span<const LoopRange> loops);
  Wide elements_of_equal_parts(const RunList& list, std::int64_t each, const LoopValues& values,
                               std::span<const LoopRange> loops) const;
  Wide along(const RunList& list, std::int64_t parts, const LoopValues& values, const LoopRange& loop);
  Wide of_run(const Run& run);
  Wide of_parts(std::int64_t first, std::int64_t count, std::int64_t m);
  double of_blocks(const Extent& extent, std::int32_t rank, std::span<const std::int64_t> values) const;

  const DataLayout& data_;
  std::int64_t segments_;
  std::map<std::array<std::int64_t, 3>, Wide> known_; // asked for by all ranks, and dear: a 128-bit division a bit
};

} // namespace kumihimo::simulation
