// The variants with a quartet in each lane (hartree_fock/two_electron), over threads and ranks.
#pragma once

#include "hartree_fock_app/variant.hpp"

#include <vector>

namespace kumihimo::hartree_fock_app {

std::vector<Variant> lanes_variants();

} // namespace kumihimo::hartree_fock_app
