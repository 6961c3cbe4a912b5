// The variants of variants.def as data.
#pragma once

#include "base/parameter.hpp"
#include "fem/materials.hpp"
#include "fem/matrix.hpp"
#include "fem/mesh.hpp"

#include <cstdint>
#include <span>
#include <string_view>

namespace kumihimo::fem {

struct AssemblyVariant : VariantDescription {
  bool runs_here;
  double flops; // of an element; an addition, multiplication, division or root counts as one
  // Adds the stiffness of all elements to a matrix of make_matrix(mesh). Error: there is not enough memory, or a value
  // of a parameter is out of range.
  Status (*assemble)(const Mesh& mesh, const Materials& materials, BlockMatrix& matrix, const ParameterValues& values);
};

struct OperatorVariant : VariantDescription {
  bool runs_here;
  double flops;
  // y += A x over `elements`, by one thread. x and y: 3 of each node, ghosts too.
  void (*add_product)(const Mesh& mesh, const Materials& materials, std::span<const std::int32_t> elements,
                      const double* x, double* y);
};

std::span<const AssemblyVariant> assembly_variants(); // the golden copy first
std::span<const OperatorVariant> operator_variants();
// Null if there is none of this name that runs here.
const AssemblyVariant* find_assembly(std::string_view name);
const OperatorVariant* find_operator(std::string_view name);
// The widest that runs here.
const OperatorVariant& fastest_operator();

// block: elements of a block, 1 to 128. layers: of a pencil, 0 for eight colours.
std::span<const TakenParameter> block_parameters();
std::span<const TakenParameter> simd_parameters();

// Values set to zero, then the assembly: what a measurement of the assembly times. The structure of the matrix is
// known.
Status assemble(const AssemblyVariant& variant, const Mesh& mesh, const Materials& materials, BlockMatrix& matrix,
                const ParameterValues& given = {});

} // namespace kumihimo::fem
