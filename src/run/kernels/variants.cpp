#include "kernels/variants.hpp"

#include <algorithm>

namespace kumihimo::kernels {

#define REDUCE(name, ...) ReduceKernel reduce_##name(DataType type, Operation op);
#define COPY(name, runs, parameters, summary)                                                                          \
  CopyKernel copy_##name##_of(const ParameterValues& values);                                                          \
  std::span<const TakenParameter> parameters();
#include "kernels/variants.def"
#undef REDUCE
#undef COPY

std::span<const TakenParameter> no_parameters() { return {}; }

namespace {

template <class Row>
const Row* find(std::span<const Row> rows, std::string_view name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return at != rows.end() && at->runs_here ? &*at : nullptr;
}

} // namespace

#define REDUCE(...)
#define COPY(...)
std::span<const ReduceVariant> reduce_variants() {
#undef REDUCE
#define REDUCE(name, runs, rank, summary) {{#name, summary}, (runs) != 0, reduce_##name, rank},
  static const ReduceVariant rows[] = {
#include "kernels/variants.def"
  };
  return rows;
#undef REDUCE
#define REDUCE(...)
}

std::span<const CopyVariant> copy_variants() {
#undef COPY
#define COPY(name, runs, parameters, summary) {{#name, summary, parameters()}, (runs) != 0, copy_##name##_of},
  static const CopyVariant rows[] = {
#include "kernels/variants.def"
  };
  return rows;
}

const ReduceVariant* find_reduce_variant(std::string_view name) { return find(reduce_variants(), name); }
const CopyVariant* find_copy_variant(std::string_view name) { return find(copy_variants(), name); }

} // namespace kumihimo::kernels
