// Embeddings and folds of a lattice in a box. Each axis of the lattice is split into factors, each factor lies on an
// axis of the box, and the factors of a box axis make up its length. Along a lattice axis the factors count in
// reflected order (a snake), so that neighbours differ by one step of one factor; on a box axis, lower factors are
// reflected where the higher ones are odd (a fold). 16x16x16 on 8x8x64: x and y fold once, and the folds and z share
// the axis of 64.
#pragma once

#include "mapping/search/tools.hpp"
#include "mapping/structured/box_cost.hpp"

namespace kumihimo::mapping {

// The folds with the fewest hop-bytes of the pairs, the fewest first, at most `most`. Of very many a random part is
// looked at: O(terms + ranks x most).
std::vector<CoordinatesOfRanks> folds(const Box& box, const Shape& shape, std::span<const std::int32_t> place_of_rank,
                                      std::span<const WeighedPair> pairs, std::size_t most, std::int64_t terms,
                                      std::uint64_t seed, const Tools& tools);

} // namespace kumihimo::mapping
