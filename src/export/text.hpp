// The text form of a schedule: its header, and one rank's program with loops and expressions as they are written, never
// expanded. Of any algorithm; lines fit `columns` wherever a word does.
//
//   lane 0: reduce, tree 0 (window 2)
//     - receive_reduce from 13 (2,0,1):
//       output[part 0/3] = input[part 0/3] + arriving
//     - send to 1 (0,0,1): output[part 0/3]
//
// Steps under a dash start together; the next dash follows when all are complete.
#pragma once

#include "schedule/schedule.hpp"
#include "topology/rank_space.hpp"

#include <string>

namespace kumihimo {

// The collective, the algorithm with its parameters, segments and claims.
std::string header_text(const Schedule& schedule, const RankSpace& space, std::size_t columns = 80);
// Of programs that are no collective.
std::string header_text(const ProgramSet& set, const std::string& name, const RankSpace& space,
                        std::size_t columns = 80);

// The program of one rank, 0 <= rank < ranks; peers with their coordinates where the ranks have a shape.
std::string program_text(const ProgramSet& set, const RankSpace& space, Rank rank, std::size_t columns = 80);

} // namespace kumihimo
