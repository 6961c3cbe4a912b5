#include "base/parameter.hpp"

#include <fmt/format.h>

#include <type_traits>

namespace kumihimo {

Status Parameter::check(std::int64_t number) const {
  if (number >= min && number <= max) return Nothing{};
  const bool less = number < min;
  return wrong_value(fmt::format("{} must be at {} {}", name, less ? "least" : "most", less ? min : max), number,
                     fmt::format("leave {} out for the default", name));
}

std::string text_of(const ParameterDefault& value) {
  return std::visit(
      [](const auto& of) -> std::string {
        if constexpr (std::is_same_v<decltype(of), const DerivedDefault&>)
          return of.words;
        else
          return fmt::format("{}", of);
      },
      value);
}

ParameterValues with_defaults(std::span<const TakenParameter> taken, ParameterValues given) {
  for (const auto& [parameter, value] : taken) given.try_emplace(std::string(parameter->name), value);
  return given;
}

std::vector<std::int64_t> tuning_values(const TakenParameter& taken) {
  std::vector<std::int64_t> all{taken.default_value};
  for (const std::int64_t each : taken.parameter->tuning_values)
    if (each != 0 && each != taken.default_value) all.push_back(each);
  return all;
}

} // namespace kumihimo
