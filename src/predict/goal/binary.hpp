// GOAL files in the binary form that txt2bin of LogGOPSim writes. Little-endian, packed:
//
//   u64 4223, u32 ranks, u8 largest cpu, u8 largest nic
//   per rank u64 begin, u64 end, counted from behind the first word
//   at `begin`: u32 operations, u32 roots, u32 root ...; per operation 39 bytes: u32 waits_for, u8 kind, u32 peer,
//   u64 size, u32 tag, u8 cpu, u8 nic, u32 after_end, u32 first, u32 after_start, u32 first; then u32 dependents ...
#pragma once

#include "goal/graph.hpp"

#include <string_view>

namespace kumihimo::goal {

bool is_binary(std::string_view bytes); // begins as such a file

// Errors name the file, the rank and the number of the operation: a file that is cut off, or whose numbers point out of
// it; a kind or a peer that does not exist; numbers of dependencies that differ from the lists; a circle.
Result<Graphs> parse_binary(std::string_view bytes, std::string_view file);

} // namespace kumihimo::goal
