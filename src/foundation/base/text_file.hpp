// Reads small text files that a user names. Pure folders leave it to their files that read files (check-includes).
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace kumihimo {

// What a file should be, for the error.
struct TextFileRule {
  std::string_view what;   // "the machine file"
  std::int64_t most_bytes; // a longer file is something else
  std::string_view advice; // "check the path"
};

// Error: there is no regular file, which is found without opening a FIFO or a device.
Status check_regular(const std::string& path, const TextFileRule& rule);

// The whole text. Error: there is no regular file; it is too long or cannot be read.
Result<std::string> read_text(const std::string& path, const TextFileRule& rule);

} // namespace kumihimo
