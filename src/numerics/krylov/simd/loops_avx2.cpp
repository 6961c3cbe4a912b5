// x86_64: -mavx2
// Empty on other processors.
#if defined(__x86_64__)
#include "krylov/simd/loops.hpp"

namespace kumihimo::krylov {

std::span<const RangeLoop> loops_avx2() { return table; }

} // namespace kumihimo::krylov

#endif
