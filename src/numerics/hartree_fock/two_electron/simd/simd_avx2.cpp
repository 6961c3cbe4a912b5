// x86_64: -mavx2 -mfma
// Empty on other processors.
#if defined(__x86_64__)
#include "hartree_fock/two_electron/instructions.hpp"
#include "hartree_fock/two_electron/simd/quartet_lanes.hpp"

namespace kumihimo::hartree_fock::two_electron {

const LaneKernels kernels_avx2 = make_kernels<4>();

} // namespace kumihimo::hartree_fock::two_electron

#endif
