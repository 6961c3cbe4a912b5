// Traffic as plain text: a line for each pair of ranks, with sender, receiver, bytes and, if known, messages.
//
//   # 16 lu.W.16        the first line may give the number of ranks
//   0 1 10208960 9635
//   0 4 10208960        one message
#pragma once

#include "traffic/traffic.hpp"

#include <string_view>

namespace kumihimo {

// '#' begins a comment. Without a number of ranks in the first line, the greatest rank is the last one. Lines may have
// any order; lines of one pair are summed. Errors name the line: too few or too many words; a word that is no whole
// number; a rank out of range; a negative number. Error of the file: no bytes between two ranks.
Result<Traffic> parse_traffic(std::string_view text, std::string_view file);

} // namespace kumihimo
