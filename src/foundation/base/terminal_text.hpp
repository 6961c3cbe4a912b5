// Text that goes to a terminal though parts of it come from files, names of files or the environment.
#pragma once

#include <string>
#include <string_view>

namespace kumihimo {

// The text with \x1b in place of each byte that commands a terminal: controls but line feed and tab, also those above
// 0x7f, and characters that change the direction of the text.
std::string visible(std::string_view text);

} // namespace kumihimo
