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

#include "program/data_layout.hpp"
#include "schedule/schedule.hpp"
#include "topology/rank_space.hpp"

#include <string>
#include <string_view>

namespace kumihimo {

// The collective, the algorithm with its parameters, segments and claims.
std::string header_text(const Schedule& schedule, const RankSpace& space, std::size_t columns = 80);
// Header of programs that are no collective.
std::string header_text(const ProgramSet& set, const std::string& name, const RankSpace& space,
                        std::size_t columns = 80);

// The program of one rank, 0 <= rank < ranks; peers with their coordinates where the ranks have a shape.
std::string program_text(const ProgramSet& set, const RankSpace& space, Rank rank, std::size_t columns = 80);

// Chunks and operations as people read them: "output[part 0/3]", "scratch0[cell 1: parts 4..7 of 16]", "min(a, b)".

// The name of a buffer: "input", "scratch0".
std::string text_of(const Buffer& buffer);

// Unit of a layout: "part", "block", or the unit that it was declared with.
std::string_view unit_of(Layout layout, const DataLayout& data);

// Text of an extent of the current segment (of the whole vector where there is one segment): "all", "part 0/3", "parts
// 2..3 of 8", "block 5"; runs that repeat as "part 0/8, 4 times 2 apart".
std::string text_of(const Extent& extent, const DataLayout& data = {});
std::string text_of(const Chunk& chunk, const DataLayout& data = {});

// left op right, in the operation's usual spelling.
std::string text_of(Operation operation, const std::string& left, const std::string& right);

} // namespace kumihimo
