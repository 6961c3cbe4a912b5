#include "interpose/types.hpp"

#include <algorithm>

namespace kumihimo::interpose {

Types::Types(const mpi::Library& library) : types_(library.constants.named), operations_(library.constants.operations) {
  for (const DataType type : builtin_datatypes) types_.push_back({library.datatype(type), type});
  std::erase_if(types_, [&](const mpi::NamedType& t) {
    int bytes = 0;
    return t.handle == 0 || library.call.Type_size(t.handle, &bytes) != 0 || bytes != size_of(t.type);
  });
  const auto before = [](const mpi::NamedType& a, const mpi::NamedType& b) { return a.handle < b.handle; };
  std::sort(types_.begin(), types_.end(), before);
}

std::optional<DataType> Types::type(mpi::Handle handle) const {
  const auto it = std::lower_bound(types_.begin(), types_.end(), handle,
                                   [](const mpi::NamedType& t, mpi::Handle h) { return t.handle < h; });
  if (it == types_.end() || it->handle != handle) return std::nullopt;
  return it->type;
}

std::optional<Operation> Types::operation(mpi::Handle handle) const {
  for (const Operation op : builtin_operations)
    if (operations_[static_cast<std::size_t>(op)] == handle) return op;
  return std::nullopt;
}

} // namespace kumihimo::interpose
