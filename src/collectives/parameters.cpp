#include "collectives/parameters.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace kumihimo {

bool ParameterDeclaration::is_given(const Parameters& p) const {
  return std::visit([&](auto member) { return static_cast<bool>(p.*member); }, value);
}

void ParameterDeclaration::set_default(Parameters& p, const ParameterDefault& default_value) const {
  if (is_given(p)) return;
  const auto set = [&]<class Value>(std::optional<Value> Parameters::*member) {
    if (const Value* const found = std::get_if<Value>(&default_value)) p.*member = *found;
  };
  if (const auto* number = std::get_if<Number>(&value)) set(*number);
  if (const auto* flag = std::get_if<Flag>(&value)) set(*flag);
  if (const auto* choice = std::get_if<Choice>(&value)) set(*choice);
}

std::string ParameterDeclaration::text(const Parameters& p) const {
  if (!is_given(p)) return {};
  if (const auto* number = std::get_if<Number>(&value)) return fmt::format("{}={}", name, *(p.**number));
  if (const auto* choice = std::get_if<Choice>(&value)) return fmt::format("{}={}", name, *(p.**choice));
  return std::string(name);
}

const ParameterDeclaration* find_parameter(std::string_view name) {
  const auto* const found = std::find_if(declared_parameters.begin(), declared_parameters.end(),
                                         [&](const ParameterDeclaration& each) { return each.name == name; });
  return found == declared_parameters.end() ? nullptr : found;
}

std::string with_hints(std::string text, const Parameters& p) {
  for (const ParameterDeclaration& each : declared_parameters)
    if (std::holds_alternative<ParameterDeclaration::Hint>(each.value) && each.is_given(p))
      text += (text.empty() ? "" : " ") + each.text(p);
  return text;
}

} // namespace kumihimo
