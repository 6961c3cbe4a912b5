#include "execute/reduction.hpp"

#include <fmt/format.h>

namespace kumihimo::execute {

Result<transport::Reduction> find_reduction(DataType type, std::optional<Operation> operation) {
  if (!operation) return transport::Reduction{};
  if (const kernels::ReducePlan kernel = kernels::reduce_plan(type, *operation))
    return transport::Reduction{kernel, nullptr, nullptr};
  return wrong_value(fmt::format("{} is not defined for {}", name_of(*operation), name_of(type)), {},
                     "give the user's function");
}

} // namespace kumihimo::execute
