#include "execute/reduction.hpp"

#include <fmt/format.h>

namespace kumihimo::execute {

Result<transport::Reduction> find_reduction(DataType type, std::optional<Operation> operation) {
  if (!operation) return transport::Reduction{};
  if (const kernels::ReducePlan kernel = kernels::reduce_plan(type, *operation))
    return transport::Reduction{kernel, nullptr, nullptr};
  return bad_input("a reduction needs a built-in type and operation or the user's function",
                   fmt::format("{} of {}", name_of(*operation), name_of(type)),
                   "give the function");
}

} // namespace kumihimo::execute
