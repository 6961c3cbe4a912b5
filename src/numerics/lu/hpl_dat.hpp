// HPL.dat, the input file of HPL: the problems, blocks, grids, broadcasts and depths of look-ahead that it lists.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::lu {

inline constexpr std::int64_t most_rows = 100'000'000; // of a problem, from a file or not
inline constexpr std::int64_t most_lookahead = 8;      // a transport tells 16 calls apart (transport/transport.hpp)
// HPL's broadcasts 1ring, 1ringM, 2ring, 2ringM, blong, blonM as the registry of collectives names them.
inline constexpr std::array<std::string_view, 6> hpl_broadcasts = {
    "chain", "chain_modified", "two_chains", "two_chains_modified", "long", "long_modified"};

// A line whose values change nothing here.
struct UnusedLine {
  int line = 0;
  std::string name, values, reason;
};

struct HplInput {
  std::vector<std::int64_t> sizes, blocks;
  bool is_column_major = false;                             // the mapping of ranks to the grid
  std::vector<std::pair<std::int32_t, std::int32_t>> grids; // P x Q
  double threshold = 16;                                    // of the scaled residual
  std::vector<std::string_view> broadcasts;                 // of hpl_broadcasts; empty: the file ends before
  std::vector<std::int64_t> depths;                         // of look-ahead; empty: the file ends before
  std::vector<UnusedLine> unused;
};

// Lines 1 to 31 of the file. It may end after line 13 or after a later list. Error: the file, the line, and what it
// must have.
Result<HplInput> parse_hpl_dat(std::string_view text, const std::string& file);

} // namespace kumihimo::lu
