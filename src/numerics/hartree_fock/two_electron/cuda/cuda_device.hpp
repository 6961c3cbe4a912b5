// A GPU as the accelerator of a builder.
#pragma once

#include "hartree_fock/two_electron/build.hpp"
#include "hartree_fock/two_electron/device.hpp"

#include <memory>

namespace kumihimo::hartree_fock::two_electron {

enum class GpuWay {
  atomics, // a thread for each quartet adds to J and K by atomic operations
  stored,  // integrals to memory; a second kernel adds without atomic operations
  shared   // the same, with sums of quartets in shared memory, not in spilled registers
};

// For a builder of the six classes of s and p shells, which lives longer. `rank_on_node`: ranks of a node share its
// GPUs in turn. Errors: the program was built without CUDA, or there is no GPU (not applicable); memory of the GPU.
Result<std::unique_ptr<Device>> make_cuda_device(const TwoElectronBuilder& builder, GpuWay way, int rank_on_node = 0);

} // namespace kumihimo::hartree_fock::two_electron
