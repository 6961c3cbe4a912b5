#include "one_sided/backends.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace kumihimo::one_sided {

#define KUMIHIMO_ONE_SIDED(name) Status measure_##name(const OneSidedContext& context, const OneSidedTask& task);
#include "one_sided/backends.def"
#undef KUMIHIMO_ONE_SIDED

const std::vector<OneSidedBackend>& backends() {
  static const std::vector<OneSidedBackend> all = {
#define KUMIHIMO_ONE_SIDED(name) {#name, measure_##name},
#include "one_sided/backends.def"
#undef KUMIHIMO_ONE_SIDED
  };
  return all;
}

Result<OneSidedBackend> find_backend(const std::string& name) {
  const std::vector<OneSidedBackend>& all = backends();
  const auto row = std::find_if(all.begin(), all.end(), [&](const OneSidedBackend& each) { return each.name == name; });
  if (row != all.end()) return *row;
  std::vector<std::string_view> names;
  for (const OneSidedBackend& each : all) names.push_back(each.name);
  return wrong_value(fmt::format("a back end must be one of {}", fmt::join(names, ", ")), "'" + name + "'");
}

} // namespace kumihimo::one_sided
