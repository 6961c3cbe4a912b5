#include "application/changed_lines.hpp"

#include <algorithm>
#include <vector>

namespace kumihimo::application {
namespace {

std::string_view trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(" \t"), last = line.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : line.substr(first, last - first + 1);
}

bool counts(std::string_view line) {
  if (line.find_first_not_of("{}();") == std::string_view::npos) return false; // also an empty line
  for (const char* const start : {"//", "#include", "#pragma once", "namespace", "} // namespace"})
    if (line.starts_with(start)) return false;
  return true;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::string_view line = trimmed(text.substr(0, text.find('\n')));
    if (counts(line)) lines.push_back(line);
    text.remove_prefix(std::min(text.find('\n'), text.size() - 1) + 1);
  }
  return lines;
}

} // namespace

std::int64_t changed_lines(std::string_view plain, std::string_view variant) {
  const std::vector<std::string_view> a = lines_of(plain), b = lines_of(variant);
  std::vector<std::int64_t> row(b.size() + 1); // longest common subsequence with the first lines of b
  for (const std::string_view line : a) {
    std::int64_t diagonal = 0;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::int64_t above = row[j];
      row[j] = line == b[j - 1] ? diagonal + 1 : std::max(row[j], row[j - 1]);
      diagonal = above;
    }
  }
  return static_cast<std::int64_t>(b.size()) - row.back();
}

std::int64_t changed_lines(std::span<const std::string_view> files, std::string_view (*source_of)(std::string_view)) {
  std::string text;
  for (const std::string_view file : files) text += source_of(file);
  return changed_lines(source_of("golden.cpp"), text);
}

} // namespace kumihimo::application
