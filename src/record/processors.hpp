// The processors that this process may run on.
#pragma once

#include <string>

namespace kumihimo::record {

// "0-3,8"; empty: unknown. Processes of a node may share them, or have some each.
std::string allowed_processors();

} // namespace kumihimo::record
