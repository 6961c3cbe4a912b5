// Neighbourhoods by a word.
#pragma once

#include "schedule/neighbourhood.hpp"

#include <memory>
#include <string_view>

namespace kumihimo {

//   cart:4x3mx2   Cartesian axes, as Shape::parse reads them; without an m they are periodic
//   edges:0>1,0>1,2>2   a graph: a message from rank to rank for each, in this order at both ends
//   random:SEED   a graph drawn from the seed: up to 4 destinations a rank, some of them twice, itself among them
// Errors: none of these; axes that do not hold the ranks.
Result<std::shared_ptr<const Neighbourhood>> named_neighbours(std::string_view text, std::int32_t ranks);

} // namespace kumihimo
