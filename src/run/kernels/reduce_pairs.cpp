// MPI_MINLOC and MPI_MAXLOC: of two pairs the whole of the one whose value is smaller, or larger, and of equal values
// the one with the smaller index. A NaN wins, and of zeros that share an index the one that min or max would give. So
// the order is total, and any tree gives the same bits.
#include "kernels/reduce.hpp"

#include <cmath>
#include <cstring>
#include <type_traits>

namespace kumihimo::kernels {
namespace {

template <class T, class Index>
struct ValueAndIndex {
  T value;
  Index index;
};

template <bool largest, class T, class Index>
bool wins(const ValueAndIndex<T, Index>& a, const ValueAndIndex<T, Index>& b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a.value) || std::isnan(b.value))
      return std::isnan(a.value) && (!std::isnan(b.value) || a.index < b.index);
    if (a.value == b.value && a.index == b.index) return std::signbit(a.value) != largest;
  }
  if (a.value != b.value) return largest ? a.value > b.value : a.value < b.value;
  return a.index < b.index;
}

template <class T, class Index, bool largest>
void reduce_pairs(const void* left, const void* right, void* target, std::int64_t count) {
  using Element = ValueAndIndex<T, Index>;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t at = i * static_cast<std::int64_t>(sizeof(Element));
    Element a, b;
    std::memcpy(&a, static_cast<const char*>(left) + at, sizeof a); // the pointers may be unaligned
    std::memcpy(&b, static_cast<const char*>(right) + at, sizeof b);
    std::memcpy(static_cast<char*>(target) + at, wins<largest>(b, a) ? &b : &a, sizeof a);
  }
}

template <class T, class Index>
ReduceKernel kernel(Operation op) {
  return op == Operation::maxloc ? &reduce_pairs<T, Index, true> : &reduce_pairs<T, Index, false>;
}

} // namespace

ReduceKernel find_pair_kernel(DataType type, Operation op) {
  if (!is_applicable(type, op)) return nullptr;
  switch (type) {
  case DataType::int16_int32: return kernel<std::int16_t, std::int32_t>(op);
  case DataType::int32_int32: return kernel<std::int32_t, std::int32_t>(op);
  case DataType::int64_int32: return kernel<std::int64_t, std::int32_t>(op);
  case DataType::float32_int32: return kernel<float, std::int32_t>(op);
  case DataType::float64_int32: return kernel<double, std::int32_t>(op);
  case DataType::float32_float32: return kernel<float, float>(op);
  case DataType::float64_float64: return kernel<double, double>(op);
  default: return nullptr;
  }
}

} // namespace kumihimo::kernels
