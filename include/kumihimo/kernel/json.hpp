// JSON: enough of it for the requests of the tuner and for wisdom files.
#ifndef KUMIHIMO_KERNEL_JSON_HPP
#define KUMIHIMO_KERNEL_JSON_HPP

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kumihimo::kernel {

class Json {
 public:
  enum class Kind { null, boolean, number, text, list, object };
  Kind kind = Kind::null;
  double number = 0;
  std::string text;
  std::vector<std::string> names; // of the members of an object
  std::vector<Json> items;        // of a list; the values of the members

  // Throws std::runtime_error where it is no JSON.
  static Json parse(std::string_view text) {
    Reader reader{text};
    Json value = reader.value(0);
    reader.space();
    if (reader.at != text.size()) reader.fail();
    return value;
  }
  const Json* find(std::string_view name) const {
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == name) return &items[i];
    return nullptr;
  }
  std::string word(std::string_view name) const {
    const Json* value = find(name);
    return value && value->kind == Kind::text ? value->text : std::string();
  }
  std::int64_t whole(std::string_view name, std::int64_t otherwise) const {
    const Json* value = find(name);
    constexpr double most = 9007199254740992; // 2^53: larger ones are not exact, and may not fit
    const bool fits = value && value->kind == Kind::number && std::abs(value->number) <= most;
    return fits ? static_cast<std::int64_t>(value->number) : otherwise;
  }

 private:
  static constexpr int deepest = 32;
  struct Reader {
    std::string_view text;
    std::size_t at = 0;

    [[noreturn]] static void fail() { throw std::runtime_error("text that is no JSON"); }
    void space() {
      while (at < text.size() && std::strchr(" \t\r\n", text[at])) ++at;
    }
    char peek() {
      space();
      return at < text.size() ? text[at] : '\0';
    }
    void take(std::string_view word) {
      if (text.substr(at, word.size()) != word) fail();
      at += word.size();
    }
    Json value(int depth) {
      if (depth > deepest) fail();
      Json found;
      switch (peek()) {
      case '{':
        found.kind = Kind::object;
        list('}', [&] {
          std::string name = (peek(), string());
          if (peek() != ':') fail();
          ++at;
          found.names.push_back(std::move(name));
          found.items.push_back(value(depth + 1));
        });
        break;
      case '[':
        found.kind = Kind::list;
        list(']', [&] { found.items.push_back(value(depth + 1)); });
        break;
      case '"': found.kind = Kind::text, found.text = string(); break;
      case 't': found.kind = Kind::boolean, found.number = 1, take("true"); break;
      case 'f': found.kind = Kind::boolean, take("false"); break;
      case 'n': take("null"); break;
      default: {
        found.kind = Kind::number;
        const std::string digits(text.substr(at, text.find_first_not_of("+-.0123456789eE", at) - at));
        char* end = nullptr;
        found.number = std::strtod(digits.c_str(), &end);
        if (digits.empty() || *end) fail();
        at += digits.size();
      }
      }
      return found;
    }
    template <class Each>
    void list(char end, Each each) {
      ++at;
      if (peek() == end) {
        ++at;
        return;
      }
      for (;;) {
        each();
        const char next = peek();
        ++at;
        if (next == end) return;
        if (next != ',') fail();
      }
    }
    std::string string() {
      if (at >= text.size() || text[at] != '"') fail();
      std::string found;
      for (++at; at < text.size() && text[at] != '"'; ++at) {
        if (text[at] != '\\') {
          found += text[at];
          continue;
        }
        if (++at >= text.size()) fail();
        switch (text[at]) {
        case 'n': found += '\n'; break;
        case 't': found += '\t'; break;
        case 'r': found += '\r'; break;
        case 'b': found += '\b'; break;
        case 'f': found += '\f'; break;
        case 'u': found += code_point(); break;
        default: found += text[at];
        }
      }
      if (at >= text.size()) fail();
      ++at;
      return found;
    }
    // As UTF-8; halves of a pair one by one, since they are compared only with what was written in the same way.
    std::string code_point() {
      if (at + 4 >= text.size()) fail();
      const unsigned c = static_cast<unsigned>(std::strtoul(std::string(text.substr(at + 1, 4)).c_str(), nullptr, 16));
      at += 4;
      if (c < 0x80) return {static_cast<char>(c)};
      if (c < 0x800) return {static_cast<char>(0xc0 | c >> 6), static_cast<char>(0x80 | (c & 0x3f))};
      return {static_cast<char>(0xe0 | c >> 12), static_cast<char>(0x80 | (c >> 6 & 0x3f)),
              static_cast<char>(0x80 | (c & 0x3f))};
    }
  };
};

inline std::string quoted(std::string_view text) {
  std::string found = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') found += '\\';
    if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned char>(c));
      found += escape;
    } else {
      found += c;
    }
  }
  return found + '"';
}

inline std::string decimal(double value) {
  char text[40];
  std::snprintf(text, sizeof text, "%.17g", value);
  return text;
}

} // namespace kumihimo::kernel

#endif
