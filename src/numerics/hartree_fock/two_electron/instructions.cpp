#include "hartree_fock/two_electron/instructions.hpp"

#include <string>

namespace kumihimo::hartree_fock::two_electron {

std::vector<std::string_view> instruction_sets() {
  std::vector<std::string_view> sets{"baseline"};
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) sets.push_back("avx2");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    sets.push_back("avx512");
#endif
  return sets;
}

Result<const LaneKernels*> kernels_of(std::string_view instructions) {
  const std::vector<std::string_view> sets = instruction_sets();
  if (instructions.empty()) instructions = sets.back();
  for (const std::string_view set : sets) {
    if (set != instructions) continue;
#if defined(__x86_64__)
    if (set == "avx2") return &kernels_avx2;
    if (set == "avx512") return &kernels_avx512;
#endif
    return &kernels_baseline;
  }
  return wrong_value("the instructions must be a set that this processor runs", std::string(instructions),
                     "use " + std::string(sets.back()));
}

} // namespace kumihimo::hartree_fock::two_electron
