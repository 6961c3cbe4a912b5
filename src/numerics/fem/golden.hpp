// The golden copy of the assembly: one element after the other in natural order, the integral of B^T D B at 2 x 2 x 2
// Gauss points, in plain loops. Every variant is compared with it.
#pragma once

#include "fem/materials.hpp"
#include "fem/matrix.hpp"
#include "fem/mesh.hpp"

#include <cstdint>

namespace kumihimo::fem {

// Of an element: force of component a at corner p by displacement c at corner q is at [3 p + a][3 q + c].
using Stiffness = double[24][24];
void stiffness_golden(const Mesh& mesh, const Materials& materials, std::int64_t element, Stiffness& stiffness);

// Adds the stiffness of all elements to `matrix`, which make_matrix(mesh) made.
void assemble_golden(const Mesh& mesh, const Materials& materials, BlockMatrix& matrix);

} // namespace kumihimo::fem
