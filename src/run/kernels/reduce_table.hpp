// The kernels of one variant, by operation and type. Only files of variants include this.
#pragma once

#include "kernels/reduce.hpp"

namespace kumihimo::kernels {

struct ReduceTable {
  ReduceKernel kernel[operation_count][datatype_count] = {};

  constexpr ReduceKernel at(DataType type, Operation op) const {
    return kernel[static_cast<int>(op)][static_cast<int>(type)];
  }
};

// Calls fill.template operator()<Operation>() for each built-in operation.
template <class Fill>
constexpr void for_each_operation(Fill fill) {
  fill.template operator()<Operation::sum>();
  fill.template operator()<Operation::prod>();
  fill.template operator()<Operation::min>();
  fill.template operator()<Operation::max>();
  fill.template operator()<Operation::land>();
  fill.template operator()<Operation::lor>();
  fill.template operator()<Operation::lxor>();
  fill.template operator()<Operation::band>();
  fill.template operator()<Operation::bor>();
  fill.template operator()<Operation::bxor>();
}

// The table whose entries are Loop<T, op>::run for every applicable pair.
template <template <class, Operation> class Loop>
constexpr ReduceTable make_reduce_table() {
  ReduceTable table;
  const auto column = [&]<class T, DataType type>() {
    for_each_operation([&]<Operation op>() {
      if constexpr (is_applicable(type, op))
        table.kernel[static_cast<int>(op)][static_cast<int>(type)] = &Loop<T, op>::run;
    });
  };
  column.template operator()<std::int8_t, DataType::int8>();
  column.template operator()<std::uint8_t, DataType::uint8>();
  column.template operator()<std::int16_t, DataType::int16>();
  column.template operator()<std::uint16_t, DataType::uint16>();
  column.template operator()<std::int32_t, DataType::int32>();
  column.template operator()<std::uint32_t, DataType::uint32>();
  column.template operator()<std::int64_t, DataType::int64>();
  column.template operator()<std::uint64_t, DataType::uint64>();
  column.template operator()<float, DataType::float32>();
  column.template operator()<double, DataType::float64>();
  return table;
}

} // namespace kumihimo::kernels
