#include "mapping/choice/request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace kumihimo::mapping {
namespace {

constexpr std::array<std::string_view, 4> objective_names = {"hop-bytes", "links", "time", "off-node"};
constexpr std::array<std::string_view, 3> effort_names = {"fast", "standard", "thorough"};

template <class Kind, std::size_t count>
Result<Kind> kind_of(std::string_view what, std::string_view name, const std::array<std::string_view, count>& names) {
  const auto* const found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) return wrong_value(fmt::format("{} must be one of {}", what, fmt::join(names, ", ")), name);
  return static_cast<Kind>(found - names.begin());
}

} // namespace

Result<Objective> objective_of(std::string_view name) {
  return kind_of<Objective>("the objective", name, objective_names);
}

Result<SearchEffort> effort_of(std::string_view name) {
  return kind_of<SearchEffort>("the effort", name, effort_names);
}

} // namespace kumihimo::mapping
