#include "mpi_transport/library_reduction.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace kumihimo::mpi_transport {
namespace {

constexpr std::uintptr_t most_alignment = 16;
constexpr std::int64_t most_apart_bytes = 32 << 10; // of elements that are copied at once: they stay in the cache

} // namespace

LibraryReduction::LibraryReduction(const mpi::Library& library, const Operands& operands)
    : library_(library), operands_(operands), extent_(operands.type_bytes), true_extent_(operands.type_bytes) {
  if (operands.is_packed) {
    mpi::Address low = 0;
    library.call.Type_get_extent(operands.type, &low, &extent_);
    library.call.Type_get_true_extent(operands.type, &true_low_, &true_extent_);
  }
  if (extent_ >= true_extent_) // else elements overlap
    most_apart_ = std::max<std::int64_t>(1, most_apart_bytes / std::max<mpi::Address>(1, extent_));
}

bool LibraryReduction::is_aligned(const void* address) const {
  const auto extent = static_cast<std::uintptr_t>(extent_);
  const std::uintptr_t alignment = std::min(most_alignment, extent & -extent);
  return (reinterpret_cast<std::uintptr_t>(address) & (alignment - 1)) == 0;
}

void LibraryReduction::run(const void* self, const void* left, const void* right, void* target, std::int64_t count) {
  static_cast<const LibraryReduction*>(self)->apply(static_cast<const std::byte*>(left),
                                                    static_cast<const std::byte*>(right),
                                                    static_cast<std::byte*>(target), count);
}

// MPI_Reduce_local(in, inout): inout = in op inout, so the right operand must be in the target.
void LibraryReduction::apply(const std::byte* left, const std::byte* right, std::byte* target,
                             std::int64_t count) const {
  constexpr std::int64_t most = std::int64_t{1} << 30; // elements of one call, whose count is an int
  if (operands_.commutative && target == left) std::swap(left, right);
  const bool apart = operands_.is_packed || target == left || !is_aligned(left) || !is_aligned(target);
  for (std::int64_t done = 0; done < count;) {
    const auto now = static_cast<int>(std::min(apart ? most_apart_ : most, count - done));
    const std::int64_t at = done * operands_.type_bytes;
    if (apart) {
      apply_apart(left + at, right + at, target + at, now);
    } else {
      if (target != right) std::memcpy(target + at, right + at, static_cast<std::size_t>(now * operands_.type_bytes));
      note(library_.call.Reduce_local(left + at, target + at, now, operands_.type, operands_.operation));
    }
    done += now;
  }
}

// On copies of the operands.
void LibraryReduction::apply_apart(const std::byte* left, const std::byte* right, std::byte* target, int count) const {
  const auto bytes = static_cast<std::size_t>((count - 1) * extent_ + true_extent_) + most_alignment;
  for (std::vector<std::byte>* const memory : {&left_, &right_})
    if (memory->size() < bytes) memory->resize(bytes);
  std::byte* const in = first_element(left_);
  std::byte* const inout = first_element(right_);
  fetch(left, in, count);
  fetch(right, inout, count);
  note(library_.call.Reduce_local(in, inout, count, operands_.type, operands_.operation));
  store(inout, target, count);
}

// Its bytes may begin before or behind its address.
std::byte* LibraryReduction::first_element(std::vector<std::byte>& memory) const {
  const auto begin = reinterpret_cast<std::uintptr_t>(memory.data()) - static_cast<std::uintptr_t>(true_low_);
  return reinterpret_cast<std::byte*>((begin + most_alignment - 1) & -most_alignment);
}

void LibraryReduction::fetch(const std::byte* from, std::byte* elements, int count) const {
  const std::int64_t bytes = count * operands_.type_bytes;
  int at = 0;
  if (operands_.is_packed)
    note(library_.call.Unpack(from, static_cast<int>(bytes), &at, elements, count, operands_.type, operands_.alone));
  else
    std::memcpy(elements, from, static_cast<std::size_t>(bytes));
}

void LibraryReduction::store(const std::byte* elements, std::byte* to, int count) const {
  const std::int64_t bytes = count * operands_.type_bytes;
  int at = 0;
  if (operands_.is_packed)
    note(library_.call.Pack(elements, count, operands_.type, to, static_cast<int>(bytes), &at, operands_.alone));
  else
    std::memcpy(to, elements, static_cast<std::size_t>(bytes));
}

} // namespace kumihimo::mpi_transport
