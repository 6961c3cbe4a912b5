// The variants with a quartet in each lane (hartree_fock/two_electron), over threads and ranks.
#pragma once

#include "hartree_fock/two_electron/build.hpp"
#include "hartree_fock_app/variant.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace kumihimo::hartree_fock_app {

std::vector<ScfVariant> lanes_variants();

// The widest set that all ranks have, of the lists of instruction_sets(), each of which begins another: units of work
// depend on the number of lanes, so ranks that deal them must have the same. Collective.
std::string common_instructions(application::Processes& processes, const std::vector<std::string_view>& mine);

// By which ranks add J and K and number the same units: nothing for one rank. They deal no units.
hartree_fock::two_electron::BuildRanks collectives_of(application::Runtime& runtime);

} // namespace kumihimo::hartree_fock_app
