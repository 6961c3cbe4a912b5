#include "machine/host_list.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace kumihimo {
namespace {

constexpr std::size_t most_names = 1 << 20;
constexpr std::size_t most_digits = 9;
constexpr std::string_view digits = "0123456789";

Error too_many(std::string found) {
  return wrong_value(fmt::format("a host list has at most {} names", most_names), std::move(found));
}

std::optional<std::int64_t> number(std::string_view text) {
  if (text.empty() || text.size() > most_digits || text.find_first_not_of(digits) != std::string_view::npos) return {};
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// "01-03,7" as 01 02 03 7: the first number of a range says how many digits all have.
Result<std::vector<std::string>> numbers(std::string_view ranges) {
  std::vector<std::string> found;
  for (std::string_view rest = ranges;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view range = trimmed(rest.substr(0, comma));
    const std::size_t dash = std::min(range.find('-'), range.size());
    const std::string_view from = range.substr(0, dash);
    const std::string_view to = dash == range.size() ? from : range.substr(dash + 1);
    for (const std::string_view text : {from, to})
      if (text.size() > most_digits && text.find_first_not_of(digits) == std::string_view::npos)
        return wrong_value(fmt::format("a number in a host list has at most {} digits", most_digits),
                           fmt::format("'{}'", text));
    const auto first = number(from), last = number(to);
    if (!first || !last || *last < *first)
      return wrong_value("a host list is written like n[01-03,7]", fmt::format("'[{}]'", ranges));
    if (const auto many = static_cast<std::size_t>(*last - *first) + 1; found.size() + many > most_names)
      return too_many(fmt::format("{} in '[{}]'", many, ranges));
    for (std::int64_t n = *first; n <= *last; ++n) found.push_back(fmt::format("{:0{}}", n, dash));
    if (comma == rest.size()) return found;
    rest.remove_prefix(comma + 1);
  }
}

// The names of one part of the list, between two commas outside brackets.
Status add_names(std::string_view part, std::vector<std::string>& names) {
  std::vector<std::string> expanded = {""};
  while (!part.empty()) {
    const bool bracket = part.front() == '[';
    const std::size_t end = bracket ? part.find(']') : std::min(part.find('['), part.size());
    auto choices = TRY(bracket ? numbers(part.substr(1, end - 1))
                               : Result<std::vector<std::string>>({std::string(part.substr(0, end))}));
    if (names.size() + expanded.size() * choices.size() > most_names) return too_many(fmt::format("'{}'", part));
    std::vector<std::string> longer;
    for (const std::string& start : expanded)
      for (const std::string& choice : choices) longer.push_back(start + choice);
    expanded = std::move(longer);
    part.remove_prefix(end + bracket);
  }
  names.insert(names.end(), expanded.begin(), expanded.end());
  return Nothing{};
}

// A name as what its number follows, and that number; no number: not to be joined.
struct NameSplit {
  std::string_view start, number;
};

NameSplit split(std::string_view name) {
  const std::size_t last = name.find_last_not_of(digits);
  const std::size_t at = last == std::string_view::npos ? 0 : last + 1;
  if (name.size() - at > most_digits) return {name, ""};
  return {name.substr(0, at), name.substr(at)};
}

} // namespace

Result<std::vector<std::string>> parse_host_list(std::string_view text) {
  std::vector<std::string> names;
  std::size_t first = 0;
  bool inside = false;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    if (c == '[' ? inside : c == ']' ? !inside : at == text.size() && inside)
      return wrong_value("a host list is written like n[01-03,7]", fmt::format("'{}'", text), "close each bracket");
    if (c == '[' || c == ']') inside = c == '[';
    if (c != ',' || inside) continue;
    if (const std::string_view part = trimmed(text.substr(first, at - first)); !part.empty())
      if (const Status added = add_names(part, names); !added) return added.error();
    first = at + 1;
  }
  return names;
}

std::string host_list(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size();) {
    const auto [start, first] = split(names[i]);
    std::size_t end = i + 1;
    for (std::string_view last = first; end < names.size() && !first.empty(); ++end) {
      const auto [other, next] = split(names[end]);
      if (other != start || next.size() != first.size() || number(next) != *number(last) + 1) break;
      last = next;
    }
    text += text.empty() ? "" : ",";
    text += end == i + 1 ? names[i] : fmt::format("{}[{}-{}]", start, first, split(names[end - 1]).number);
    i = end;
  }
  return text;
}

} // namespace kumihimo
