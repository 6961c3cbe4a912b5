// HPL.dat, the input file of HPL: the problems, blocks and grids that it lists.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::lu {

struct HplInput {
  std::vector<std::int64_t> sizes, blocks;
  std::vector<std::pair<std::int32_t, std::int32_t>> grids; // P x Q
  double threshold = 16;                                    // of the scaled residual
};

// Lines 1 to 13 of the file: N, NB, the mapping of processes (row-major alone), P, Q, the threshold. What follows tunes
// HPL's own panels, broadcasts and swaps: it is not read. Error: the file, the line, and what it must have.
Result<HplInput> parse_hpl_dat(std::string_view text, const std::string& file);

} // namespace kumihimo::lu
