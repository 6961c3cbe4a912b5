#include "mpi_transport/library_reduction.hpp"

#include <algorithm>
#include <cstring>

namespace kumihimo::mpi_transport {

void LibraryReduction::run(const void* self, const void* left, const void* right, void* target, std::int64_t count) {
  constexpr std::int64_t most = std::int64_t{1} << 30; // elements of one call, whose count is an int
  const auto& me = *static_cast<const LibraryReduction*>(self);
  for (std::int64_t at = 0; at < count; at += most) {
    const std::int64_t first = at * me.type_bytes_;
    me.apply(static_cast<const std::byte*>(left) + first, static_cast<const std::byte*>(right) + first,
             static_cast<std::byte*>(target) + first, static_cast<int>(std::min(most, count - at)));
  }
}

// MPI_Reduce_local(in, inout): inout = in op inout. The right operand is the second one, so it is copied into the
// target first.
void LibraryReduction::apply(const std::byte* left, const std::byte* right, std::byte* target, int count) const {
  const auto bytes = static_cast<std::size_t>(count * type_bytes_);
  if (target == left && target != right) {
    aside_.assign(left, left + bytes);
    left = aside_.data();
  }
  if (target != right) std::memcpy(target, right, bytes);
  const int code = library_.call.Reduce_local(left, target, count, type_, operation_);
  if (code_ == 0) code_ = code;
}

} // namespace kumihimo::mpi_transport
