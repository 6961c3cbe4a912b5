// Numbers and words of texts that people write: shapes, orders, edges, lists.
#pragma once

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

// Takes a number from the front of the text. None: there is none, or it does not fit the type.
template <class Number>
std::optional<Number> take_number(std::string_view& text) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

// The same of a number from 0 on.
inline std::optional<std::int32_t> take_count(std::string_view& text) {
  return text.starts_with('-') ? std::nullopt : take_number<std::int32_t>(text);
}

// The whole text as a number.
template <class Number>
std::optional<Number> number_in(std::string_view text) {
  const std::optional<Number> value = take_number<Number>(text);
  return text.empty() ? value : std::nullopt;
}
inline std::optional<std::int32_t> count_in(std::string_view text) {
  const std::optional<std::int32_t> value = take_count(text);
  return text.empty() ? value : std::nullopt;
}
template <class Number>
bool read_number(std::string_view text, Number& value) {
  const std::optional<Number> found = number_in<Number>(text);
  if (found) value = *found;
  return found.has_value();
}

// Takes this word from the front of the text, if it is there.
inline bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// The whole text, "128" or "128x96x64", as numbers from 1 on; one number is for all three.
inline std::optional<std::array<std::int64_t, 3>> box_in(std::string_view text) {
  std::array<std::int64_t, 3> found{};
  for (std::size_t a = 0; a < 3; ++a) {
    const auto number = a == 0 || take(text, "x") ? take_number<std::int64_t>(text) : std::nullopt;
    if (!number || *number < 1) return std::nullopt;
    found[a] = *number;
    if (a == 0 && text.empty()) return std::array<std::int64_t, 3>{*number, *number, *number};
  }
  return text.empty() ? std::optional(found) : std::nullopt;
}

// Takes what stands before the next separator, and the separator; all of the text where there is none.
inline std::string_view take_until(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(part.size() < text.size() ? part.size() + 1 : part.size());
  return part;
}

// The text without gaps at its ends.
inline std::string_view trimmed(std::string_view text, std::string_view gaps = " \t\r") {
  const std::size_t first = text.find_first_not_of(gaps);
  return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(gaps) - first + 1);
}

// What stands between gaps, which are any of these characters.
inline std::vector<std::string_view> words_of(std::string_view text, std::string_view gaps = " \t\r") {
  std::vector<std::string_view> words;
  for (std::size_t at = 0; (at = text.find_first_not_of(gaps, at)) != std::string_view::npos;) {
    const std::size_t end = text.find_first_of(gaps, at);
    words.push_back(text.substr(at, end - at));
    at = end == std::string_view::npos ? text.size() : end;
  }
  return words;
}

// The text for an error: a carriage return would hide what stands before it on a terminal.
inline std::string on_one_line(std::string_view text) {
  std::string shown(text);
  for (char& c : shown)
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = ' ';
  return shown;
}

// Whether the text is UTF-8: no stray, overlong or missing bytes, no surrogates, nothing above U+10FFFF.
inline bool is_utf8(std::string_view text) {
  const auto byte = [&](std::size_t at) { return static_cast<unsigned char>(text[at]); };
  for (std::size_t at = 0; at < text.size();) {
    const unsigned first = byte(at);
    const std::size_t length = first < 0x80   ? 1
                               : first < 0xC2 ? 0
                               : first < 0xE0 ? 2
                               : first < 0xF0 ? 3
                               : first < 0xF5 ? 4
                                              : 0;
    if (length == 0 || length > text.size() - at) return false;
    for (std::size_t i = 1; i < length; ++i)
      if ((byte(at + i) & 0xC0U) != 0x80) return false;
    const unsigned second = length > 2 ? byte(at + 1) : 0;
    if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
        (first == 0xF4 && second > 0x8F))
      return false;
    at += length;
  }
  return true;
}

} // namespace kumihimo
