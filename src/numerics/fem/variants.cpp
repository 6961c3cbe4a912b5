#include "fem/variants.hpp"

#include "fem/block_size.hpp"
#include "fem/flops.hpp"
#include "fem/golden.hpp"

#include <algorithm>
#include <string>

namespace kumihimo::fem {

#define ASSEMBLE(name, ...) Status assemble_##name(const Mesh&, const Materials&, BlockMatrix&, const ParameterValues&);
#define OPERATE(name, ...)                                                                                             \
  void operate_##name(const Mesh&, const Materials&, std::span<const std::int32_t>, const double*, double*);
#include "fem/variants.def"
#undef ASSEMBLE
#undef OPERATE

namespace {

const Parameter block{.name = "block",
                      .meaning = "elements of a block: searched, then integrated, then added",
                      .min = 1,
                      .max = 128,
                      .tuning_values = {1, 8, 32}};
const Parameter layers{.name = "layers",
                       .meaning = "layers of elements that a thread assembles line by line; 0: colour by colour",
                       .min = 0,
                       .max = 1024,
                       .tuning_values = {1, 2, 8}};
const TakenParameter block_taken[] = {{&block, 2}};
const TakenParameter simd_taken[] = {{&block, 8}, {&layers, 4}};

Result<std::int64_t> value_of(const Parameter& parameter, const ParameterValues& values) {
  const auto at = values.find(parameter.name);
  if (at == values.end()) return missing("the parameter " + std::string(parameter.name), "give a number");
  if (Status in_range = parameter.check(at->second); !in_range) return in_range.error();
  return at->second;
}

template <class Row>
const Row* find(std::span<const Row> rows, std::string_view name) {
  const auto at = std::find_if(rows.begin(), rows.end(), [&](const Row& row) { return row.name == name; });
  return at != rows.end() && at->runs_here ? &*at : nullptr;
}

} // namespace

std::span<const TakenParameter> no_parameters() { return {}; }
std::span<const TakenParameter> block_parameters() { return block_taken; }
std::span<const TakenParameter> simd_parameters() { return simd_taken; }

Result<std::int64_t> block_size(const ParameterValues& values) { return value_of(block, values); }
Result<std::int64_t> pencil_layers(const ParameterValues& values) { return value_of(layers, values); }

Status assemble_golden(const Mesh& mesh, const Materials& materials, BlockMatrix& matrix, const ParameterValues&) {
  assemble_golden(mesh, materials, matrix);
  return Nothing{};
}

#define ASSEMBLE(...)
#define OPERATE(...)
std::span<const AssemblyVariant> assembly_variants() {
#undef ASSEMBLE
#define ASSEMBLE(name, runs, parameters, flops, summary)                                                               \
  {{#name, summary, parameters()}, (runs) != 0, flops, assemble_##name},
  static const AssemblyVariant rows[] = {
#include "fem/variants.def"
  };
  return rows;
#undef ASSEMBLE
#define ASSEMBLE(...)
}

std::span<const OperatorVariant> operator_variants() {
#undef OPERATE
#define OPERATE(name, runs, flops, summary) {{#name, summary}, (runs) != 0, flops, operate_##name},
  static const OperatorVariant rows[] = {
#include "fem/variants.def"
  };
  return rows;
}

const AssemblyVariant* find_assembly(std::string_view name) { return find(assembly_variants(), name); }
const OperatorVariant* find_operator(std::string_view name) { return find(operator_variants(), name); }

const OperatorVariant& fastest_operator() {
  const std::span<const OperatorVariant> rows = operator_variants();
  return *std::find_if(rows.rbegin(), rows.rend(), [](const OperatorVariant& row) { return row.runs_here; });
}

Status assemble(const AssemblyVariant& variant, const Mesh& mesh, const Materials& materials, BlockMatrix& matrix,
                const ParameterValues& given) {
  set_zero(matrix);
  return variant.assemble(mesh, materials, matrix, with_defaults(variant.parameters, given));
}

} // namespace kumihimo::fem
