#include "execute/reduction.hpp"

#include <fmt/format.h>

namespace kumihimo::execute {

Result<transport::Reduction> find_reduction(const Collective& collective) {
  if (!collective.reduces()) return transport::Reduction{};
  if (const kernels::ReducePlan kernel = kernels::reduce_plan(collective.type, collective.operation))
    return transport::Reduction{kernel, nullptr, nullptr};
  return bad_input("a reduction needs a built-in type and operation or the user's function",
                   fmt::format("{} of {}", name_of(collective.operation), name_of(collective.type)),
                   "give the function");
}

} // namespace kumihimo::execute
