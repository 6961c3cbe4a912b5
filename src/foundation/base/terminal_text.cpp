#include "base/terminal_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace kumihimo {
namespace {

using namespace std::string_view_literals;

// How many bytes from the front are one command.
std::size_t command_at(std::string_view text) {
  constexpr std::array beginnings{"\xe2\x80"sv, "\xe2\x81"sv};
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) < ' ' || byte(0) == 0x7f) return byte(0) != '\n' && byte(0) != '\t';
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2; // U+0080 to U+009F
  if (text.starts_with("\xd8\x9c")) return 2;                         // U+061C
  const unsigned last = byte(2);
  if (text.starts_with(beginnings[0]) && (last == 0x8e || last == 0x8f || (last >= 0xa8 && last <= 0xae))) return 3;
  if (text.starts_with(beginnings[1]) && last >= 0xa6 && last <= 0xa9) return 3;
  return 0;
}

} // namespace

std::string visible(std::string_view text) {
  std::string shown;
  while (!text.empty()) {
    const std::size_t command = command_at(text);
    for (const char c : text.substr(0, command)) shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    if (command == 0) shown += text.front();
    text.remove_prefix(std::max<std::size_t>(command, 1));
  }
  return shown;
}

} // namespace kumihimo
