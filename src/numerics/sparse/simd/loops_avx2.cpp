// x86_64: -mavx2
// Empty on other processors.
#if defined(__x86_64__)
#define KUMIHIMO_LANES 4
#include "sparse/simd/row_loops.hpp"

namespace kumihimo::sparse {

extern constinit const InstructionSet avx2_loops = loops_of("avx2", [] { return __builtin_cpu_supports("avx2") != 0; });

} // namespace kumihimo::sparse

#endif
