#include "krylov/right_side.hpp"

#include <fmt/format.h>

#include <cmath>

namespace kumihimo::krylov {

Result<double> norm_of_right_side(double bb, bool has_nonzero) {
  constexpr double least_square = 1e-280, greatest_square = 1e280;
  if (std::isnan(bb)) return wrong_value("the right-hand side must not have a NaN", {}, "check b");
  if (!has_nonzero) return 0.0;
  if (bb < least_square || bb > greatest_square)
    return wrong_value("the norm of the right-hand side must be 1e-140 to 1e140 and finite",
                       fmt::format("{:.3g}", std::sqrt(bb)), "scale the system");
  return std::sqrt(bb);
}

} // namespace kumihimo::krylov
