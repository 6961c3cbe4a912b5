// The reduction loop for a collective.
#pragma once

#include "base/result.hpp"
#include "schedule/collective.hpp"
#include "transport/sink.hpp"

namespace kumihimo::execute {

// The built-in loop for a collective's type and operation; none for collectives that do not reduce. Error: the
// operation is the user's, whose function the caller must bring.
Result<transport::Reduction> find_reduction(DataType type, std::optional<Operation> operation);
inline Result<transport::Reduction> find_reduction(const Collective& c) {
  return find_reduction(c.type, c.reduces() ? std::optional(c.operation) : std::nullopt);
}

} // namespace kumihimo::execute
