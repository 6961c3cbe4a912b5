#include "hartree_fock_app/gpu_variants.hpp"

#include "hartree_fock/two_electron/cuda/cuda_device.hpp"
#include "hartree_fock/two_electron/hybrid.hpp"
#include "hartree_fock_app/lanes_variants.hpp"

#include <algorithm>
#include <string>

namespace kumihimo::hartree_fock_app {
namespace {

using namespace hartree_fock::two_electron;
using hartree_fock::TwoElectron;

int rank_on_node(const application::Processes& processes) {
  const std::vector<std::int64_t> nodes = processes.node_of_rank();
  const auto mine = nodes.begin() + processes.rank();
  return static_cast<int>(std::count(nodes.begin(), mine, *mine));
}

Sharing sharing_of(application::Runtime& runtime, const BuildRanks& collectives) {
  if (runtime.ranks() == 1) return {};
  return {.rank = runtime.rank(),
          .ranks = runtime.ranks(),
          .agree = [&runtime](const Status& mine) { return runtime.agree(mine); },
          .sum = collectives.sum};
}

template <GpuWay Way, bool Alone>
Result<std::unique_ptr<TwoElectron>> make(const VariantSetting& setting, const ParameterValues&,
                                          application::Runtime& runtime) {
  const BuildRanks collectives = collectives_of(runtime);
  const BuildSettings settings{.instructions = common_instructions(runtime.processes(), instruction_sets()),
                               .whole = false,
                               .reproducible = setting.reproducible};
  std::unique_ptr<TwoElectronBuilder> builder = TRY(TwoElectronBuilder::make(setting.basis, settings, collectives));
  Result<std::unique_ptr<Device>> device = make_cuda_device(*builder, Way, rank_on_node(runtime.processes()));
  if (Status s = runtime.agree_on(device); !s) return s.error();
  return std::unique_ptr<TwoElectron>(
      TRY(Hybrid::make(std::move(builder), std::move(*device), Alone, sharing_of(runtime, collectives))));
}

} // namespace

std::vector<ScfVariant> gpu_variants() {
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
