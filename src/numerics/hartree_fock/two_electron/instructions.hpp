// The sets of kernels, one for each set of instructions, and which of them this processor runs.
#pragma once

#include "base/result.hpp"
#include "hartree_fock/two_electron/kernels.hpp"

#include <string_view>
#include <vector>

namespace kumihimo::hartree_fock::two_electron {

extern const LaneKernels kernels_baseline;
#if defined(__x86_64__)
extern const LaneKernels kernels_avx2, kernels_avx512;
#endif

// Sets that this processor runs, the widest vectors last: "baseline", "avx2", "avx512".
std::vector<std::string_view> instruction_sets();
// The kernels of a set; empty name: of the last of instruction_sets(). Error: this processor does not run it.
Result<const LaneKernels*> kernels_of(std::string_view instructions);

} // namespace kumihimo::hartree_fock::two_electron
