// Chunks and operations as people read them: "output[part 0/3]", "scratch0[cell 1: parts 4..7 of 16]", "min(a, b)".
#pragma once

#include "program/data_layout.hpp"

#include <string>
#include <string_view>

namespace kumihimo {

// The name of a buffer: "input", "scratch0".
std::string text_of(const Buffer& buffer);

// What a layout counts in: "part", "block", or the unit that it was declared with.
std::string_view unit_of(Layout layout, const DataLayout& data);

// What an extent names of the current segment (of the whole vector where there is one segment): "all", "part 0/3",
// "parts 2..3 of 8", "block 5"; runs that repeat as "part 0/8, 4 times 2 apart".
std::string text_of(const Extent& extent, const DataLayout& data = {});
std::string text_of(const Chunk& chunk, const DataLayout& data = {});

// left op right, in the operation's usual spelling.
std::string text_of(Operation operation, const std::string& left, const std::string& right);

} // namespace kumihimo
