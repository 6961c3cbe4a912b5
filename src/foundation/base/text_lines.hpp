// Lines of texts that other programs write.
#pragma once

#include "base/text_parsing.hpp"

#include <cstdint>
#include <string_view>

namespace kumihimo {

// Lines may end with LF, CRLF or, in a text without LF, with CR. A byte order mark is left out.
class TextLines {
 public:
  explicit TextLines(std::string_view text) : rest_(text) {
    take(rest_, "\xef\xbb\xbf");
    if (rest_.find('\n') == std::string_view::npos && rest_.find('\r') != std::string_view::npos) end_ = '\r';
  }
  bool are_left() const { return !rest_.empty(); }
  // Without its end; a line of CRLF keeps its CR, which is a gap between words.
  std::string_view next() {
    ++number_;
    return take_until(rest_, end_);
  }
  std::int64_t number() const { return number_; }                       // of the last line, from 1 on
  bool has_words() const { return !trimmed(rest_, " \t\r\n").empty(); } // whether not only blank lines are left

 private:
  std::string_view rest_;
  char end_ = '\n';
  std::int64_t number_ = 0;
};

} // namespace kumihimo
