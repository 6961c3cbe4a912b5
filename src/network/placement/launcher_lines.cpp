#include "placement/launcher_lines.hpp"

#include "base/text_parsing.hpp"

#include <algorithm>

namespace kumihimo {
namespace {

// The line without its comments. `inside`: the line begins within a comment, and so does the next one.
std::string without_comments(std::string_view line, bool& inside) {
  std::string content;
  while (!line.empty()) {
    if (inside) {
      const std::size_t end = line.find("*/");
      inside = end == std::string_view::npos;
      line.remove_prefix(inside ? line.size() : end + 2);
      continue;
    }
    const std::size_t begin = std::min({line.find('#'), line.find("//"), line.find("/*"), line.size()});
    content += line.substr(0, begin);
    inside = line.substr(begin).starts_with("/*");
    line.remove_prefix(inside ? begin + 2 : line.size());
    content += inside ? " " : "";
  }
  return content;
}

} // namespace

std::vector<LauncherLine> launcher_lines(std::string_view text) {
  std::vector<LauncherLine> lines;
  bool inside = false;
  for (std::int32_t number = 1; !text.empty(); ++number) {
    const std::string content = without_comments(take_until(text, '\n'), inside);
    if (const std::string_view found = trimmed(content, " \t\r\f\v"); !found.empty())
      lines.push_back({number, std::string(found)});
  }
  return lines;
}

} // namespace kumihimo
