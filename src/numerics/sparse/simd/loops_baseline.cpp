#define KUMIHIMO_LANES 2
#include "sparse/simd/row_loops.hpp"

namespace kumihimo::sparse {

extern constinit const InstructionSet baseline_loops = loops_of("baseline", [] { return true; });

} // namespace kumihimo::sparse
