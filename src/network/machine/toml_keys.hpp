// Keys of TOML before it is parsed: toml++ makes a table of each part of a.b.c, and recurses over them.
#pragma once

#include <cstdint>
#include <string_view>

namespace kumihimo {

// The first line with a key of more dots than that; 0: none.
std::int64_t line_of_long_key(std::string_view text, int most_parts);

} // namespace kumihimo
