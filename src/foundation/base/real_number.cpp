#include "base/real_number.hpp"

#include "base/text_parsing.hpp"

#include <cmath>
#include <cstdlib>
#include <string>

namespace kumihimo {
namespace {

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// The digits of an exponent with their sign, or nothing where `rest` is no exponent of Fortran or Mathematica.
std::string_view exponent_in(std::string_view rest) {
  const bool has_mark = take(rest, "D") || take(rest, "d") || take(rest, "Q") || take(rest, "q") || take(rest, "*^");
  std::string_view digits = rest;
  const bool has_sign = take(digits, "+") || take(digits, "-");
  if (!are_digits(digits) || (!has_mark && !(has_sign && digits.size() == 3))) return {};
  if (take(rest, "+")) return digits;
  return rest;
}

bool read_exact(std::string_view text, double& value) {
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, value);
  if (behind != end || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) value = std::strtod(std::string(text).c_str(), nullptr);
  return std::isfinite(value);
}

} // namespace

bool read_real(std::string_view word, double& value) {
  if (take(word, "+") && word.starts_with('-')) return false;
  if (read_exact(word, value)) return true;
  const std::size_t size = word.find_first_not_of("0123456789.", word.starts_with('-'));
  if (size == std::string_view::npos || size == 0) return false;
  const std::string_view exponent = exponent_in(word.substr(size));
  if (exponent.empty()) return false;
  std::string usual(word.substr(0, size));
  usual += 'e';
  usual += exponent;
  return read_exact(usual, value);
}

} // namespace kumihimo
