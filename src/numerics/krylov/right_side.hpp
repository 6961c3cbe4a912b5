// The right-hand side b of a linear system, whose norm methods divide by.
#pragma once

#include "base/result.hpp"

namespace kumihimo::krylov {

// |b| from b.b, or 0 where no element of b is other than 0: the solution is 0. Error: b has a NaN, or b.b is not 1e-280
// to 1e280, beyond which sums of squares are not safe. A tiny b is not 0, though b.b is.
Result<double> norm_of_right_side(double bb, bool has_nonzero);

} // namespace kumihimo::krylov
