// Whether the ways of Tofu lead from every node to every other although parts are dead.
#pragma once

#include "topology/tofu.hpp"

#include <functional>

namespace kumihimo {

// Proves that any two live nodes for which `wanted` holds have a live way, both ways, or says which two have none. The
// proof looks at the groups with dead parts alone: between groups a message may take any place of the group in which
// nothing is dead on X, Y and Z all over the box. Where that does not suffice, small boxes are looked at pair by pair.
Status check_connected(const Tofu& tofu, const std::function<bool(const TofuPlace&)>& wanted);

} // namespace kumihimo
