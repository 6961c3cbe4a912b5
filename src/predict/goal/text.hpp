// GOAL files as text, as txt2bin of LogGOPSim reads them.
//
//   num_ranks 2
//   rank 0 {
//   l1: calc 1000 cpu 0          nanoseconds
//   l2: send 32768b to 1 tag 7 cpu 0 nic 0
//   l2 requires l1               l2 starts after the end of l1 (irequires: after its start)
//   }
//   rank 1 {
//   recv 32768b from 0 tag 7     from -1: any rank; tag -1: any tag
//   }
//
// One statement a line; `rank R {`, `}` and num_ranks may stand before others. `//` and `/* */` are comments. Labels
// are optional, and so are tag, cpu and nic (0). Of a tag txt2bin keeps 32 bits, and so do we: generators that put
// several numbers into one write longer ones.
#pragma once

#include "goal/graph.hpp"

#include <string_view>

namespace kumihimo::goal {

inline constexpr std::int32_t most_ranks = 1 << 24; // a model has some 100 bytes for each, whatever it does

// Ranks may stand in any order; a rank without a section does nothing. Errors name the file, the line and, where there
// is one, the label: what is no statement; a rank that does not exist or has two sections; a label twice or unknown;
// operations that wait for each other in a circle.
Result<Graphs> parse_text(std::string_view text, std::string_view file);

// The text of these graphs. Joins are written as `calc 0`, which the reader of the file runs on a processor.
std::string text_of(const Graphs& graphs);

} // namespace kumihimo::goal
