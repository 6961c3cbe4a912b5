// How many lines of a plain program a variant changes, as published comparisons of directives with hand-written code
// count them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace kumihimo::application {

// Lines of `variant` that are not in `plain`, by the longest common subsequence of lines. Blanks at both ends of a
// line, empty lines, comments, braces alone, #include lines and those of namespaces do not count.
std::int64_t changed_lines(std::string_view plain, std::string_view variant);
// Of files of these names that replace golden.cpp. `source_of`: the text of a file by its name.
std::int64_t changed_lines(std::span<const std::string_view> files, std::string_view (*source_of)(std::string_view));

} // namespace kumihimo::application
