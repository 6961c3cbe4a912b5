// All rows of applications.def.
#pragma once

#include "application/application.hpp"

#include <span>

namespace kumihimo {

std::span<const application::Application> applications();

} // namespace kumihimo
