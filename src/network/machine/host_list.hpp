// Slurm's host lists: cn[001-128,200],login1 names 130 hosts. Several brackets in a name are all their combinations.
#pragma once

#include "base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kumihimo {

// In the list's order. Errors: brackets that do not close; what is no range of numbers; more than 2^20 names.
Result<std::vector<std::string>> parse_host_list(std::string_view text);
// The same names with consecutive numbers joined: what parse_host_list reads again.
std::string host_list(const std::vector<std::string>& names);

} // namespace kumihimo
