#include "hartree_fock_app/gpu_variants.hpp"

#include "hartree_fock/two_electron/cuda/cuda_device.hpp"
#include "hartree_fock/two_electron/hybrid.hpp"

#include <string>

namespace kumihimo::hartree_fock_app {
namespace {

using namespace hartree_fock::two_electron;
using hartree_fock::TwoElectron;

template <GpuWay Way, bool Alone>
Result<std::unique_ptr<TwoElectron>> make(const Setting& setting, const ParameterValues&,
                                          application::Runtime& runtime) {
  if (runtime.ranks() > 1)
    return not_applicable("variants with a GPU need one rank", std::to_string(runtime.ranks()),
                          "use the variant `shells`");
  std::unique_ptr<Builder> builder =
      TRY(Builder::make(setting.basis, {.whole = false, .reproducible = setting.reproducible}));
  std::unique_ptr<Device> device = TRY(make_cuda_device(*builder, Way));
  return std::unique_ptr<TwoElectron>(TRY(Hybrid::make(std::move(builder), std::move(device), Alone)));
}

} // namespace

std::vector<Variant> gpu_variants() {
  return {
      {{"gpu_atomics", "GPU: a thread for each quartet, which adds to J and K by atomic operations"},
       &make<GpuWay::atomics, true>},
      {{"gpu_stored", "GPU: integrals to memory, then a kernel that adds without atomic operations"},
       &make<GpuWay::stored, true>},
      {{"gpu_shared", "the same, with each quartet's sums in shared memory"}, &make<GpuWay::shared, true>},
      {{"hybrid", "GPU and processors: each class is split between them, by the times of both"},
       &make<GpuWay::shared, false>},
  };
}

} // namespace kumihimo::hartree_fock_app
