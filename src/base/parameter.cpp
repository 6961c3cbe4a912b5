#include "base/parameter.hpp"

#include <fmt/format.h>

namespace kumihimo {

Status Parameter::check(std::int64_t number) const {
  if (number >= least && number <= most) return Nothing{};
  const bool less = number < least;
  return wrong_value(fmt::format("{} must be at {} {}", name, less ? "least" : "most", less ? least : most), number,
                     fmt::format("leave {} out for the default", name));
}

std::vector<std::int64_t> Parameter::values(std::int64_t initial) const {
  std::vector<std::int64_t> all{initial};
  for (const std::int64_t each : tried)
    if (each != 0 && each != initial) all.push_back(each);
  return all;
}

ParameterValues with_defaults(std::span<const TakenParameter> taken, ParameterValues given) {
  for (const auto& [parameter, initial] : taken) given.try_emplace(std::string(parameter->name), initial);
  return given;
}

} // namespace kumihimo
