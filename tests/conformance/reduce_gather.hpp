// A collective that neither MPI nor the library has, added as CONTRIBUTING.md says: reduce_scatter and gather in one.
// Each rank has a block for each; the root gets the sums of all blocks.
#pragma once

#include "collectives/registry.hpp"

namespace conformance {

inline constexpr kumihimo::CollectiveRow reduce_gather_row{"reduce_gather",
                                                           {kumihimo::WhichRanks::all, kumihimo::Part::each},
                                                           {kumihimo::WhichRanks::root, kumihimo::Part::each},
                                                           kumihimo::Combined::reduced,
                                                           kumihimo::Contributors::all,
                                                           kumihimo::Known::global,
                                                           kumihimo::collective_kinds};

// Every pair of ranks exchanges operands directly; each rank sends the sum of its block to the root.
const kumihimo::Variant& reduce_gather_pairwise();

} // namespace conformance
