// The predefined types and operations of a library that equal one of ours. Others are derived types and the user's
// operations.
#pragma once

#include "base/datatype.hpp"
#include "mpi/library.hpp"

#include <optional>
#include <vector>

namespace kumihimo::mpi {

class Types {
 public:
  explicit Types(const Library& library);

  // Null for an unknown type. A known type is predefined: the program never frees it.
  const NamedType* find(Handle handle) const;
  // A known type without holes: all but the pairs of MPI_MINLOC and MPI_MAXLOC. Null for others.
  const NamedType* find_dense(Handle handle) const {
    const NamedType* const found = find(handle);
    return found && !is_pair(found->type) ? found : nullptr;
  }
  std::optional<Operation> operation(Handle handle) const;

 private:
  std::vector<NamedType> types_; // by handle
  std::array<Handle, operation_count> operations_;
};

} // namespace kumihimo::mpi
