// Ranks that deal units of work must number the same ones. A collective check, before any of them is computed.
#pragma once

#include "hartree_fock/two_electron/dealing.hpp"
#include "hartree_fock/two_electron/units.hpp"

#include <vector>

namespace kumihimo::hartree_fock::two_electron {

// The same shells at the same places, so that messages about pairs have one length. Error, on all ranks: they differ;
// those of `ranks`.
Status agree_on_basis(const Basis& basis, const BuildRanks& ranks);
// The same pairs in the same order, in the same units.
Status agree_on_units(const std::vector<QuartetUnit>& units, const ShellPairs& pairs, const BuildRanks& ranks);

} // namespace kumihimo::hartree_fock::two_electron
