#include "machine/quantity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>

namespace kumihimo {
namespace {

// A unit is a power of ten or of two times the base unit. Powers of ten are applied to the decimal text and powers of
// two are exact, so that "6.58 GB/s" is the double nearest to 6.58e9 and printing reads back to the same bits.
struct UnitName {
  std::string_view name;
  int power_of_ten = 0;
  int power_of_two = 0;
};

constexpr std::array bytes_units = {UnitName{"B"},          UnitName{"kB", 3},      UnitName{"MB", 6},
                                    UnitName{"GB", 9},      UnitName{"TB", 12},     UnitName{"KiB", 0, 10},
                                    UnitName{"MiB", 0, 20}, UnitName{"GiB", 0, 30}, UnitName{"TiB", 0, 40}};
constexpr std::array rate_units = {UnitName{"B/s"},          UnitName{"kB/s", 3},      UnitName{"MB/s", 6},
                                   UnitName{"GB/s", 9},      UnitName{"TB/s", 12},     UnitName{"KiB/s", 0, 10},
                                   UnitName{"MiB/s", 0, 20}, UnitName{"GiB/s", 0, 30}, UnitName{"TiB/s", 0, 40}};
constexpr std::array flop_units = {UnitName{"flop/s"}, UnitName{"kflop/s", 3}, UnitName{"Mflop/s", 6},
                                   UnitName{"Gflop/s", 9}, UnitName{"Tflop/s", 12}};
constexpr std::array seconds_units = {UnitName{"ns", -9},      UnitName{"us", -6}, UnitName{"\u00b5s", -6},
                                      UnitName{"\u03bcs", -6}, UnitName{"ms", -3}, UnitName{"s"}};

constexpr double size_limit = 9007199254740992; // 2^53: below it doubles hold every whole number

std::string joined(std::span<const UnitName> units) {
  std::string s;
  for (const UnitName& unit : units) (s += s.empty() ? "" : ", ") += unit.name;
  return s;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// The length of "12" or "12.5" at the start of the text, 0 where there is no such number. No signs, no exponents.
std::size_t number_length(std::string_view text) {
  std::size_t n = 0;
  while (n < text.size() && is_digit(text[n])) ++n;
  if (n == 0 || n + 1 >= text.size() || text[n] != '.' || !is_digit(text[n + 1])) return n;
  for (++n; n < text.size() && is_digit(text[n]);) ++n;
  return n;
}

struct QuantityKind {
  std::string_view what; // "a rate such as \"5 GB/s\""
  std::span<const UnitName> units;
};

Result<double> parse(std::string_view text, const QuantityKind& kind) {
  const auto wrong = [&](std::string_view why) {
    return wrong_value(fmt::format("\"{}\" is not {}", text, kind.what), {},
                       fmt::format("{}write a positive number and one unit of {}", why, joined(kind.units)));
  };
  const std::size_t length = number_length(text);
  if (length == 0) return wrong("");
  std::string_view name = text.substr(length);
  if (name.starts_with(' ')) name.remove_prefix(1);
  for (const UnitName& unit : kind.units) {
    if (unit.name != name) continue;
    const std::string decimal = fmt::format("{}e{}", text.substr(0, length), unit.power_of_ten);
    double value = 0;
    const auto [end, code] = std::from_chars(decimal.data(), decimal.data() + decimal.size(), value);
    value = std::ldexp(value, unit.power_of_two);
    if (code != std::errc{} || !std::isfinite(value)) return wrong("the number is out of range; ");
    if (value <= 0) return wrong("zero is not possible here; ");
    return value;
  }
  return wrong("");
}

// The shortest decimal that reads back to value x 10^-power, without an exponent.
std::string shifted_decimal(double value, int power) {
  std::array<char, 40> buffer;
  const auto [end, code] =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::scientific);
  const std::string_view text(buffer.data(), end - buffer.data());
  const std::size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  std::string digits(1, text[0]);
  if (e > 2) digits += text.substr(2, e - 2);
  const int point = exponent - power + 1; // digits before the point
  const int count = static_cast<int>(digits.size());
  if (point <= 0) return "0." + std::string(-point, '0') + digits;
  if (point >= count) return digits + std::string(point - count, '0');
  return digits.substr(0, point) + "." + digits.substr(point);
}

std::string in_largest_unit(double value, std::span<const UnitName> units) {
  const UnitName* best = &units.front();
  for (const UnitName& unit : units)
    if (unit.power_of_two == 0 && unit.power_of_ten > best->power_of_ten && value >= std::pow(10.0, unit.power_of_ten))
      best = &unit;
  return fmt::format("{} {}", shifted_decimal(value, best->power_of_ten), best->name);
}

} // namespace

std::string_view name_of(Provenance provenance) {
  static constexpr std::array<std::string_view, 4> names = {"published", "measured", "fitted", "assumed"};
  return names[static_cast<std::size_t>(provenance)];
}

Result<Bytes> parse_bytes(std::string_view text) {
  const auto value = TRY(parse(text, {"a size such as \"1 MiB\"", bytes_units}));
  if (value != std::floor(value) || value >= size_limit)
    return wrong_value(fmt::format("\"{}\" is not a whole number of bytes below 2^53", text), {},
                       "write the size in B, KiB, MiB or GiB");
  return Bytes{static_cast<std::int64_t>(value)};
}

Result<Seconds> parse_seconds(std::string_view text) {
  const auto value = TRY(parse(text, {"a time such as \"100 ns\"", seconds_units}));
  return Seconds{value};
}

Result<FlopsPerSecond> parse_flop_rate(std::string_view text) {
  const auto value = TRY(parse(text, {"a rate such as \"16 Gflop/s\"", flop_units}));
  return FlopsPerSecond{value};
}

Result<BytesPerSecond> parse_rate(std::string_view text) {
  const auto value = TRY(parse(text, {"a rate such as \"5 GB/s\"", rate_units}));
  return BytesPerSecond{value};
}

// In the unit that takes the smallest whole number: 16 GB and 1 MiB both stay as they were written.
std::string text_of(Bytes bytes) {
  std::int64_t best = bytes.value;
  std::string_view name = "B";
  for (const UnitName& unit : bytes_units) {
    const auto size = static_cast<std::int64_t>(std::ldexp(std::pow(10.0, unit.power_of_ten), unit.power_of_two));
    if (bytes.value % size != 0 || bytes.value / size >= best) continue;
    best = bytes.value / size;
    name = unit.name;
  }
  return fmt::format("{} {}", best, name);
}

std::string text_of(Seconds seconds) { return in_largest_unit(seconds.value, seconds_units); }
std::string text_of(BytesPerSecond rate) { return in_largest_unit(rate.value, rate_units); }

std::string text_of(FlopsPerSecond rate) { return in_largest_unit(rate.value, flop_units); }
std::string text_of(std::int64_t count) { return fmt::format("{}", count); }

Result<OperationSet> parse_operations(std::string_view text) {
  OperationSet set;
  for (std::string_view left = text;;) {
    const std::size_t blank = left.find(' ');
    const std::string_view name = left.substr(0, blank);
    const auto known = std::find_if(builtin_operations.begin(), builtin_operations.end(),
                                    [&](Operation op) { return name_of(op) == name; });
    if (known == builtin_operations.end() || set.contains(*known))
      return wrong_value(fmt::format("\"{}\" is not a list of operations such as \"sum max\", each once", text), {},
                         "write names of sum, prod, min, max, land, lor, lxor, band, bor, bxor, separated by spaces");
    set.insert(*known);
    if (blank == std::string_view::npos) return set;
    left.remove_prefix(blank + 1);
  }
}

std::string text_of(OperationSet operations) {
  std::string text;
  for (const Operation op : builtin_operations)
    if (operations.contains(op)) (text += text.empty() ? "" : " ") += name_of(op);
  return text;
}

} // namespace kumihimo
