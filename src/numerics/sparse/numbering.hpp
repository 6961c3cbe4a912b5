// The numbering of the unknowns after colouring, and the blocks that threads work on. Each colour is cut into `parts`;
// block (colour, part) is a range of new numbers. The number of parts does not depend on the number of threads: thread
// t of T works on parts(part(parts, t, T)), so dot products that add per block give the same bits for any T.
//
// K. Nakajima's two numberings:
//   coalesced (A)   colour by colour; within a colour, part by part
//   sequential (B)  group by group, a group being neighbouring parts: coalesced within each. 2, 4 or 8 threads stream
//                   through memory of their own, more share it. With single parts for groups, streams are too short
//                   (256 rows of 128^3 in 40 colours): sweeps had 50 to 64 % of the triad, and 77 to 80 % with 8 groups
#pragma once

#include "sparse/colouring.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace kumihimo::sparse {

enum class RowOrder { coalesced, sequential };

// The parts of a colour, for any number of threads; threads beyond it have no rows. Both numbers are divisible by most
// numbers of threads. A matrix whose mean colour has less than 64 rows for each of 192 parts takes 48: in each sweep, a
// further thread would save less than a barrier costs, and empty blocks cost calls.
inline constexpr int fewest_parts = 48, most_parts = 192, rows_of_a_large_part = 64;
int parts_for(std::int64_t rows, int colours);
inline constexpr int most_groups = 8;

struct RowNumbering {
  RowOrder order = RowOrder::coalesced;
  int colours = 0, parts = 0, groups = 0;
  std::vector<std::int32_t> old_of_new, new_of_old;
  std::vector<threads::IndexRange> block; // of new numbers; of (colour, part) at block_of()
  std::vector<std::int32_t> rank;         // of a new number in the order of elimination
  std::vector<std::int32_t> colour;       // of a new number

  std::int32_t rows() const { return static_cast<std::int32_t>(old_of_new.size()); }
  std::int64_t block_of(int c, int part) const { return std::int64_t{c} * parts + part; } // may exceed 31 bits
  const threads::IndexRange& at(int c, int part) const { return block[block_of(c, part)]; }

  int group_of(int part) const { return static_cast<int>((std::int64_t{part} * groups + groups - 1) / parts); }

  // use(colour, part) for each block of the parts `of`, in the order of their numbers.
  template <class Use>
  void in_order(threads::IndexRange of, Use use) const {
    const int outer = order == RowOrder::coalesced ? 1 : groups;
    for (int g = 0; g < outer; ++g) {
      const threads::IndexRange group = threads::part(parts, g, outer);
      const auto begin = static_cast<int>(std::max(of.begin, group.begin));
      const auto end = static_cast<int>(std::min(of.end, group.end));
      for (int c = 0; begin < end && c < colours; ++c)
        for (int p = begin; p < end; ++p) use(c, p);
    }
  }
  // One parallel region; use(block) for each block, by the thread that works on it in products and sweeps.
  template <class Use>
  void for_blocks(Use use) const {
    const int team = threads::count();
#pragma omp parallel for schedule(static) num_threads(team)
    for (int t = 0; t < team; ++t)
      in_order(threads::part(parts, t, team), [&](int c, int p) { use(static_cast<std::size_t>(block_of(c, p))); });
  }
  // The same for each new number.
  template <class Use>
  void for_rows(Use use) const {
    for_blocks([&](std::size_t b) {
      for (std::int64_t i = block[b].begin; i < block[b].end; ++i) use(static_cast<std::int32_t>(i));
    });
  }
};

// `sigma` 2 or more: in each block, windows of so many rows are sorted by descending length, as SELL-C-sigma does.
RowNumbering number(const CrsMatrix& matrix, const Colouring& colouring, RowOrder order, int parts, int sigma = 1);

} // namespace kumihimo::sparse
