// Vectors of 16 bytes, which every 64-bit processor has.
#include "hartree_fock/two_electron/instructions.hpp"
#include "hartree_fock/two_electron/simd/quartet_lanes.hpp"

namespace kumihimo::hartree_fock::two_electron {

const LaneKernels kernels_baseline = make_kernels<2>();

} // namespace kumihimo::hartree_fock::two_electron
