// Text for people: lines that end before the right edge.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace kumihimo {

// Lines of words, broken at spaces where they would pass the right edge; continuation lines are indented further.
class Page {
 public:
  explicit Page(std::size_t columns) : columns_(columns) {}

  void line(std::size_t indent, std::string_view words, std::size_t hanging = 4) {
    std::size_t from = indent;
    while (from + words.size() > columns_) {
      const std::size_t room = columns_ > from ? columns_ - from : 0;
      std::size_t cut = words.rfind(' ', room);
      if (cut == std::string_view::npos || cut == 0) cut = words.find(' ');
      if (cut == std::string_view::npos) break;
      put(from, words.substr(0, cut));
      words.remove_prefix(cut + 1);
      from = indent + hanging;
    }
    put(from, words);
  }
  void blank() { text_ += '\n'; }
  std::string take() { return std::move(text_); }

 private:
  void put(std::size_t indent, std::string_view words) { text_ += fmt::format("{:{}}{}\n", "", indent, words); }

  std::size_t columns_;
  std::string text_;
};

} // namespace kumihimo
