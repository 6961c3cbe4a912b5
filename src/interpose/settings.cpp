#include "interpose/settings.hpp"

#include <cstdlib>

namespace kumihimo::interpose {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

} // namespace

Settings settings_of_environment() {
  return {variable("KUMIHIMO_WISDOM"),       variable("KUMIHIMO_KERNELS"),
          variable("KUMIHIMO_ALGORITHM"),    variable("KUMIHIMO_SHAPE"),
          variable("KUMIHIMO_REPRODUCIBLE"), std::atof(variable("KUMIHIMO_TIMEOUT").c_str()),
          variable("KUMIHIMO_SUMMARY")};
}

} // namespace kumihimo::interpose
