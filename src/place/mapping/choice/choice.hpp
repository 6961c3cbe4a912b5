// The search for a placement, whole: candidates of every kind, the rule that picks one of them, and bounds.
#pragma once

#include "mapping/choice/request.hpp"
#include "mapping/search/tools.hpp"

namespace kumihimo::mapping {

// Errors: more ranks than slots; a grid of another number of ranks; a start for other ranks or slots.
// Deterministic for the request, unless stopped: whatever number of threads Tools::parallel has.
Result<Mapping> map_ranks(const MappingRequest& request, const Tools& tools);

} // namespace kumihimo::mapping
