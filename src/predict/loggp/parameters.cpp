#include "loggp/parameters.hpp"

#include "base/text_parsing.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kumihimo::loggp {

Result<LogGopsParameters> parse_parameters(std::string_view text, const LogGopsParameters& base) {
  LogGopsParameters p = base;
  std::string seen;
  while (!text.empty()) {
    std::string_view part = take_until(text, ',');
    const std::string_view whole = part = trimmed(part);
    const std::string_view letter = trimmed(take_until(part, '='));
    if (letter.size() != 1 || std::string_view("LogGOSR").find(letter) == std::string_view::npos)
      return wrong_value("the parameters must be L, o, g, G, O, S and R, as in L=2500,o=1500,G=6",
                         fmt::format("'{}'", on_one_line(whole)));
    const char c = letter.front();
    if (seen.find(c) != std::string::npos) return wrong_value(fmt::format("{} must stand once", c), "a second one");
    seen += c;
    const auto value = number_in<double>(trimmed(part));
    const double most = c == 'S' ? 70368744177664.0 : 1e9;
    if (!value || !(*value >= 0) || *value > most || (c == 'S' && *value != std::floor(*value)))
      return wrong_value(c == 'S' ? std::string("S must be a whole number of bytes, at most 2^46")
                                  : fmt::format("{} must be 0 to 1e9 nanoseconds", c),
                         fmt::format("'{}'", on_one_line(trimmed(part))));
    const auto scaled = [&](double by) { return static_cast<std::uint64_t>(std::llround(*value * by)); };
    switch (c) {
    case 'L': p.L = scaled(1e3); break;
    case 'o': p.o = scaled(1e3); break;
    case 'g': p.g = scaled(1e3); break;
    case 'G': p.G = scaled(1e6); break;
    case 'O': p.O = scaled(1e6); break;
    case 'R': p.R = scaled(1e3); break;
    default: p.S = scaled(1);
    }
  }
  return p;
}

} // namespace kumihimo::loggp
