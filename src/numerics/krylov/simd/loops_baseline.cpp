// Compiled for any processor that the build targets.
#include "krylov/simd/loops.hpp"

namespace kumihimo::krylov {

std::span<const RangeLoop> loops_baseline() { return table; }

} // namespace kumihimo::krylov
