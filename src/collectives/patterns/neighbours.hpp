// The neighbourhood collectives by direct messages.
#pragma once

#include "collectives/registry.hpp"

namespace kumihimo {

Variant direct_to_neighbours();

} // namespace kumihimo
