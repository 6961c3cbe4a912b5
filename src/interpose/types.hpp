// The library's predefined types and operations that we reduce. It runs all calls with others (derived types, the
// user's operations) itself.
#pragma once

#include "base/datatype.hpp"
#include "mpi/library.hpp"

#include <optional>
#include <vector>

namespace kumihimo::interpose {

class Types {
 public:
  explicit Types(const mpi::Library& library);

  // Null for an unknown type. A known type is predefined: the program never frees it.
  const mpi::NamedType* find(mpi::Handle handle) const;
  // A known type without holes: all but the pairs of MPI_MINLOC and MPI_MAXLOC. Null for others.
  const mpi::NamedType* find_dense(mpi::Handle handle) const {
    const mpi::NamedType* const found = find(handle);
    return found && !is_pair(found->type) ? found : nullptr;
  }
  std::optional<Operation> operation(mpi::Handle handle) const;

 private:
  std::vector<mpi::NamedType> types_; // by handle
  std::array<mpi::Handle, operation_count> operations_;
};

} // namespace kumihimo::interpose
