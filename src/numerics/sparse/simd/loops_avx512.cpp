// x86_64: -mavx512f -mavx512dq -mavx512vl -mavx512bw
// Empty on other processors.
#if defined(__x86_64__)
#define KUMIHIMO_LANES 8
#include "sparse/simd/row_loops.hpp"

namespace kumihimo::sparse {

extern constinit const InstructionSet avx512_loops = loops_of("avx512", [] {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
});

} // namespace kumihimo::sparse

#endif
