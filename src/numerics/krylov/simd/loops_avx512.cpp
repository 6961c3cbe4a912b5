// x86_64: -mavx512f -mprefer-vector-width=512
// Empty on other processors.
#if defined(__x86_64__)
#include "krylov/simd/loops.hpp"

namespace kumihimo::krylov {

std::span<const RangeLoop> loops_avx512() { return table; }

} // namespace kumihimo::krylov

#endif
