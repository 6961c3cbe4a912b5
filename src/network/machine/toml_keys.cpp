#include "machine/toml_keys.hpp"

#include <algorithm>

namespace kumihimo {
namespace {

bool is_of_several_lines(std::string_view text, std::size_t at) {
  const std::string_view three = text.substr(at, 3);
  return three == "\"\"\"" || three == "'''";
}

bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// The place after the string of several lines that begins at `at`: of four or five quotes the first belong to it.
std::size_t after_lines(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string_view three = text.substr(at, 3);
  for (at += 3; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text.substr(at, 3) == three) {
      at += 3;
      for (int more = 0; more < 2 && at < text.size() && text[at] == quote; ++more) ++at;
      return at;
    }
  }
  return text.size();
}

// The place after the string or comment that begins at `at`; `at` where none begins. A string that is not closed ends
// with its line, or with the text.
std::size_t after_quoted(std::string_view text, std::size_t at) {
  const char c = text[at];
  if (c == '#') return std::min(text.find('\n', at), text.size());
  if (c != '"' && c != '\'') return at;
  if (is_of_several_lines(text, at)) return after_lines(text, at);
  while (++at < text.size() && text[at] != '\n') {
    if (text[at] == c) return at + 1;
    if (c == '"' && text[at] == '\\' && at + 1 < text.size() && text[at + 1] != '\n') ++at;
  }
  return std::min(at, text.size());
}

// The first place in a string of several lines where such a letter comes after a backslash and blanks; else its end.
std::size_t letter_after_backslash(std::string_view lines) {
  for (std::size_t at = 0; lines[0] == '"' && at < lines.size(); ++at) {
    if (lines[at] != '\\') continue;
    const std::size_t next = lines.find_first_not_of(" \t\r\n", at + 1);
    if (next < lines.size() && !is_ascii(lines[next])) return next;
    ++at;
  }
  return lines.size();
}

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

// Where the text begins that TOML defines.
std::size_t after_mark(std::string_view text) { return text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0; }

// The header that begins at `at` has a key, or nothing, for which toml++ has words.
bool has_key(std::string_view text, std::size_t at) {
  std::size_t key = text.find_first_not_of(" \t", at + 1);
  if (key < text.size() && text[key] == '[') key = text.find_first_not_of(" \t", key + 1);
  if (key >= text.size()) return true;
  const char c = text[key];
  const char lower = static_cast<char>(c | 0x20);
  return (lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') ||
         std::string_view("-_\"']").find(c) != std::string_view::npos;
}

std::int64_t lines_of(std::string_view text) { return std::count(text.begin(), text.end(), '\n'); }

} // namespace

std::int64_t line_of_long_key(std::string_view text, int most_parts) {
  std::int64_t line = 1;
  int dots = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (const std::size_t end = after_quoted(text, at); end > at) {
      line += lines_of(text.substr(at, end - at));
      at = end - 1;
    } else if (c == '.') {
      if (++dots > most_parts) return line;
    } else if (c == '\n' || c == '=' || c == ',' || c == '[' || c == '{') {
      dots = 0;
      line += c == '\n';
    }
  }
  return 0;
}

std::int64_t line_of_header_without_key(std::string_view text) {
  std::int64_t line = 1;
  int open = 0;       // brackets of arrays, and of the header itself
  bool begins = true; // the line has had only blanks
  for (std::size_t at = after_mark(text); at < text.size(); ++at) {
    const char c = text[at];
    if (const std::size_t end = after_quoted(text, at); end > at) {
      line += lines_of(text.substr(at, end - at));
      at = end - 1;
      begins = false;
    } else if (c == '\n') {
      ++line;
      begins = true;
    } else if (c != ' ' && c != '\t') {
      if (c == '[' && begins && open == 0 && !has_key(text, at)) return line;
      open = std::max(0, open + (c == '[') - (c == ']'));
      begins = false;
    }
  }
  return 0;
}

std::int64_t line_of_stray_letter(std::string_view text) {
  for (std::size_t at = after_mark(text); at < text.size(); ++at) {
    if (!is_ascii(text[at])) return 1 + lines_of(text.substr(0, at));
    const std::size_t end = after_quoted(text, at);
    if (end == at) continue;
    if (is_of_several_lines(text, at)) {
      const std::size_t letter = at + letter_after_backslash(text.substr(at, end - at));
      if (letter < end) return 1 + lines_of(text.substr(0, letter));
    }
    at = end - 1;
  }
  return 0;
}

} // namespace kumihimo
