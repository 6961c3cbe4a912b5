// The blocks of an exchange, one for each pair of ranks, and the alltoall schedule that moves them.
#pragma once

#include "distributed_fft/transform_way.hpp"
#include "schedule/schedule.hpp"
#include "topology/rank_space.hpp"

#include <cstdint>
#include <vector>

namespace kumihimo::distributed_fft {

// points[from ranks + to]: of each block, the same table on all ranks.
struct BlockTable {
  std::int32_t ranks = 1;
  std::vector<std::int64_t> points;
  std::int64_t at(std::int32_t from, std::int32_t to) const { return points[place(from, to)]; }
  std::int64_t& at(std::int32_t from, std::int32_t to) { return points[place(from, to)]; }
  std::size_t place(std::int32_t from, std::int32_t to) const {
    return static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks) + static_cast<std::size_t>(to);
  }
};

// The table with all blocks as long as the longest, where the alltoall takes equal blocks alone: its ranks relay blocks
// of others. The exchange then carries ranks^2 times the longest block. Error: there is no alltoall of this name.
Result<BlockTable> blocks_for(const TransformWay& way, const BlockTable& table);

// Whether the alltoall is one of any lengths, of 0 too.
bool takes_unequal_blocks(const TransformWay& way);

// Where the blocks of a rank begin, in the order of the other ranks, and their end.
std::vector<std::int64_t> begins_of(const BlockTable& table, std::int32_t rank, bool sent);

// The alltoall of a table of blocks_for(). Error: it does not fit these ranks (not_applicable).
Result<Schedule> alltoall_of(const BlockTable& table, const TransformWay& way, const RankSpace& space);

} // namespace kumihimo::distributed_fft
