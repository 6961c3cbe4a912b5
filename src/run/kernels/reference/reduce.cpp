// The golden copy of the reduction loops: one element at a time, written as the definition reads.
#include "kernels/reduce_table.hpp"

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace kumihimo::kernels {
namespace {

// Arithmetic of integers that wraps is arithmetic of unsigned ones. At least 32 bits wide: the product of two uint16
// would otherwise be computed, and overflow, in int.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>;

template <class T>
T wrapped_sum(T left, T right) {
  return static_cast<T>(static_cast<Wrapping<T>>(left) + static_cast<Wrapping<T>>(right));
}

template <class T>
T wrapped_product(T left, T right) {
  return static_cast<T>(static_cast<Wrapping<T>>(left) * static_cast<Wrapping<T>>(right));
}

template <class T>
T smaller(T left, T right) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(left) || std::isnan(right)) return std::numeric_limits<T>::quiet_NaN();
    if (left == right) return std::signbit(left) ? left : right;
  }
  return left < right ? left : right;
}

template <class T>
T larger(T left, T right) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(left) || std::isnan(right)) return std::numeric_limits<T>::quiet_NaN();
    if (left == right) return std::signbit(left) ? right : left;
  }
  return left > right ? left : right;
}

template <class T, Operation op>
T combine(T left, T right) {
  constexpr bool floating = std::is_floating_point_v<T>;
  if constexpr (op == Operation::sum && floating)
    return left + right;
  else if constexpr (op == Operation::sum)
    return wrapped_sum(left, right);
  else if constexpr (op == Operation::prod && floating)
    return left * right;
  else if constexpr (op == Operation::prod)
    return wrapped_product(left, right);
  else if constexpr (op == Operation::min)
    return smaller(left, right);
  else if constexpr (op == Operation::max)
    return larger(left, right);
  else if constexpr (op == Operation::land)
    return static_cast<T>(left && right);
  else if constexpr (op == Operation::lor)
    return static_cast<T>(left || right);
  else if constexpr (op == Operation::lxor)
    return static_cast<T>(!left != !right);
  else if constexpr (op == Operation::band)
    return static_cast<T>(left & right);
  else if constexpr (op == Operation::bor)
    return static_cast<T>(left | right);
  else
    return static_cast<T>(left ^ right);
}

template <class T, Operation op>
struct PlainLoop {
  static void run(const void* left, const void* right, void* target, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = i * static_cast<std::int64_t>(sizeof(T));
      T a, b;
      std::memcpy(&a, static_cast<const char*>(left) + at, sizeof(T)); // the pointers may be unaligned
      std::memcpy(&b, static_cast<const char*>(right) + at, sizeof(T));
      const T result = combine<T, op>(a, b);
      std::memcpy(static_cast<char*>(target) + at, &result, sizeof(T));
    }
  }
};

constexpr ReduceTable table = make_reduce_table<PlainLoop>();

} // namespace

ReduceKernel reduce_plain(DataType type, Operation op) { return table.at(type, op); }

} // namespace kumihimo::kernels
