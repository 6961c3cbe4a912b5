// Element types and reduction operations, and the facts of their algebra that decide which schedules may be used.
// Integers wrap, so their sums and products are associative to the last bit; floating sums and products commute but do
// not associate. Floating min and max are those of IEEE 754-2019 (`minimum`, `maximum`: a NaN wins, -0 < +0), which
// commute and associate in bits, so that any tree gives the same answer. The bits of a NaN that a sum or product makes,
// its sign and payload, are the processor's choice and promised by nobody.
#pragma once

#include "base/result.hpp"

#include <array>
#include <cstdint>
#include <string_view>

namespace kumihimo {

// `opaque`: derived or user types, whose size is given elsewhere. The pairs after it are those of MPI_MINLOC and
// MPI_MAXLOC: a value and its index, as C has them in a struct.
enum class DataType : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
  opaque,
  int16_int32,
  int32_int32,
  int64_int32,
  float32_int32,
  float64_int32,
  float32_float32,
  float64_float64
};
// `user`: an operation that only the user's function can perform. `minloc` and `maxloc` are for pairs alone.
enum class Operation : std::uint8_t { sum, prod, min, max, land, lor, lxor, band, bor, bxor, user, minloc, maxloc };

inline constexpr int datatype_count = 18;
inline constexpr int operation_count = 13;
// Those of single numbers, which commands offer.
inline constexpr std::array builtin_datatypes = {DataType::int8,    DataType::uint8,  DataType::int16, DataType::uint16,
                                                 DataType::int32,   DataType::uint32, DataType::int64, DataType::uint64,
                                                 DataType::float32, DataType::float64};
inline constexpr std::array builtin_operations = {Operation::sum,  Operation::prod, Operation::min,  Operation::max,
                                                  Operation::land, Operation::lor,  Operation::lxor, Operation::band,
                                                  Operation::bor,  Operation::bxor};

inline constexpr std::array pair_datatypes = {
    DataType::int16_int32,   DataType::int32_int32,     DataType::int64_int32,    DataType::float32_int32,
    DataType::float64_int32, DataType::float32_float32, DataType::float64_float64};

// What a reduction may rely on. `associative_in_bits` false means that another order gives other bits.
struct Algebra {
  bool commutative = false;
  bool associative_in_bits = false;
  constexpr bool operator==(const Algebra&) const = default;
};

constexpr bool is_floating(DataType type) { return type == DataType::float32 || type == DataType::float64; }
constexpr bool is_pair(DataType type) { return type > DataType::opaque; }
constexpr bool is_of_pairs(Operation op) { return op > Operation::user; }
constexpr bool is_bitwise(Operation op) { return op >= Operation::band && op <= Operation::bxor; }
constexpr bool is_logical(Operation op) { return op >= Operation::land && op <= Operation::lxor; }

// Bytes from one element to the next; 0 for `opaque`.
constexpr std::int64_t size_of(DataType type) {
  constexpr std::array<std::int64_t, datatype_count> sizes = {1, 1, 2, 2, 4, 4, 8, 8, 4, 8, 0, 8, 8, 16, 8, 16, 8, 16};
  return sizes[static_cast<std::size_t>(type)];
}

// May a built-in loop perform `op` on `type`? Floats have no logical or bitwise operations (MPI 4.1, section 6.9.2).
// A user operation is applicable to any type.
constexpr bool is_applicable(DataType type, Operation op) {
  if (op == Operation::user) return true;
  if (type == DataType::opaque) return false;
  if (is_pair(type) || is_of_pairs(op)) return is_pair(type) && is_of_pairs(op);
  return !(is_floating(type) && (is_logical(op) || is_bitwise(op)));
}

// All built-in operations commute; of a user operation only its owner knows, so the answer here is the safe one.
constexpr bool is_commutative(Operation op) { return op != Operation::user; }

constexpr Algebra algebra(DataType type, Operation op) {
  const bool rounds = is_floating(type) && (op == Operation::sum || op == Operation::prod);
  return {is_commutative(op), is_commutative(op) && type != DataType::opaque && !rounds};
}

std::string_view name_of(DataType type); // "float64", "float64_int32"
std::string_view name_of(Operation op);

// Names of single numbers as printed by name_of, and the C aliases char, short, int, long, float, double, byte.
Result<DataType> parse_datatype(std::string_view name);
// Names of operations on them as printed by name_of, and the MPI spellings MPI_SUM, MPI_MAX ... in either case.
Result<Operation> parse_operation(std::string_view name);

} // namespace kumihimo
