#include "machine/toml_keys.hpp"

#include <algorithm>

namespace kumihimo {

std::int64_t line_of_long_key(std::string_view text, int most_parts) {
  std::int64_t line = 1;
  int dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const std::string_view three = text.substr(at, 3);
    if (three == "\"\"\"" || three == "'''") { // a string of several lines
      std::size_t end = text.find(three, at + 3);
      while (c == '"' && end < text.size() && text[end - 1] == '\\') end = text.find(three, end + 1);
      end = std::min(end, text.size() - 3);
      const std::string_view inside = text.substr(at, end - at);
      line += std::count(inside.begin(), inside.end(), '\n');
      at = end + 2;
    } else if (c == '"' || c == '\'') { // a string, which ends on its line
      while (at + 1 < text.size() && text[at + 1] != '\n' && text[++at] != c)
        if (c == '"' && text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') ++at;
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size()) - 1;
    } else if (c == '.') {
      if (++dots > most_parts) return line;
    } else if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') {
      dots = 0;
      line += c == '\n';
    }
  }
  return 0;
}

} // namespace kumihimo
