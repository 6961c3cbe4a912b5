// alltoall by direct messages: one after the other, or up to `throttle` at once.
#pragma once

#include "collectives/registry.hpp"

namespace kumihimo {

Variant direct_exchange(std::string summary, bool throttled);

} // namespace kumihimo
