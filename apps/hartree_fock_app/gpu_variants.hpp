// The variants on a GPU, and on a GPU and the processors together (hartree_fock/two_electron/cuda).
#pragma once

#include "hartree_fock_app/variant.hpp"

#include <vector>

namespace kumihimo::hartree_fock_app {

std::vector<ScfVariant> gpu_variants();

} // namespace kumihimo::hartree_fock_app
