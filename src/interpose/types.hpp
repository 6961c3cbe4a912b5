// Which of a library's predefined types and operations are ours. What is not here (derived types, the user's
// operations) stays with the library.
#pragma once

#include "base/datatype.hpp"
#include "mpi/library.hpp"

#include <optional>
#include <vector>

namespace kumihimo::interpose {

class Types {
 public:
  explicit Types(const mpi::Library& library);

  std::optional<DataType> type(mpi::Handle handle) const;
  std::optional<Operation> operation(mpi::Handle handle) const;

 private:
  std::vector<mpi::NamedType> types_; // by handle
  std::array<mpi::Handle, operation_count> operations_;
};

} // namespace kumihimo::interpose
