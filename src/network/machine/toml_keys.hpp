// TOML before toml++ parses it: what it would recurse over, and what it has no defined behaviour for.
#pragma once

#include <cstdint>
#include <string_view>

namespace kumihimo {

// The first line with a key of more dots than that; 0: none. toml++ makes a table of each part of a.b.c.
std::int64_t line_of_long_key(std::string_view text, int most_parts);

// The first line with a header that begins with no key, as [%] and [\; 0: none. toml++ takes for granted that one
// begins there, and compilers may rely on it where assertions are off (TOML_ASSUME).
std::int64_t line_of_header_without_key(std::string_view text);

// The first line with a letter outside ASCII that is neither in quotes nor in a comment, or that comes after a
// backslash at the end of a line; 0: none. TOML allows only the latter. toml++ 3.3 asks of such letters whether they
// are blanks, by code that it marks as unreachable (is_non_ascii_horizontal_whitespace).
std::int64_t line_of_stray_letter(std::string_view text);

} // namespace kumihimo
