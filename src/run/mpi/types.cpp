#include "mpi/types.hpp"

#include <algorithm>

namespace kumihimo::mpi {

Types::Types(const Library& library) : types_(library.constants.named), operations_(library.constants.operations) {
  for (const DataType type : builtin_datatypes) types_.push_back({library.datatype(type), type});
  std::erase_if(types_, [&](const NamedType& t) {
    Address low = 0, extent = 0;
    return t.handle == 0 || t.handle == library.constants.datatype_null ||
           library.call.Type_get_extent(t.handle, &low, &extent) != 0 || low != 0 || extent != t.bytes();
  });
  std::sort(types_.begin(), types_.end(), [](const auto& a, const auto& b) { return a.handle < b.handle; });
}

const NamedType* Types::find(Handle handle) const {
  const auto it =
      std::lower_bound(types_.begin(), types_.end(), handle, [](const NamedType& t, Handle h) { return t.handle < h; });
  return it != types_.end() && it->handle == handle ? &*it : nullptr;
}

std::optional<Operation> Types::operation(Handle handle) const {
  for (std::size_t op = 0; op < operations_.size(); ++op)
    if (static_cast<Operation>(op) != Operation::user && operations_[op] == handle) return static_cast<Operation>(op);
  return std::nullopt;
}

} // namespace kumihimo::mpi
