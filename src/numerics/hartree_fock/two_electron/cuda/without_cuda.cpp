// The builds that have no CUDA.
#if !defined(KUMIHIMO_CUDA)
#include "hartree_fock/two_electron/cuda/cuda_device.hpp"

namespace kumihimo::hartree_fock::two_electron {

Result<std::unique_ptr<Device>> make_cuda_device(const TwoElectronBuilder&, GpuWay, int) {
  return not_applicable("this build of Kumihimo has no CUDA", {},
                        "build with -D KUMIHIMO_CUDA=ON, or use another variant");
}

} // namespace kumihimo::hartree_fock::two_electron

#endif
