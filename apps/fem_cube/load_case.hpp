// The load cases: prescribed displacements, forces, and the exact solution where it is known. Young's modulus is 1 (of
// the softest element), the cube has sides of length 1.
#pragma once

#include "fem/constraints.hpp"
#include "fem/materials.hpp"
#include "fem/mesh.hpp"
#include "fem_cube/options.hpp"

#include <functional>
#include <vector>

namespace kumihimo::fem_cube {

struct LoadCase {
  fem::Constraints constraints;
  std::vector<double> forces;                            // 3 of each owned node, of prescribed displacements too
  std::function<fem::Vector3(const double*)> exact = {}; // displacement at a point; none: unknown
  double exact_energy = 0;                               // a(u, u), twice the strain energy; 0: unknown
};

LoadCase make_load_case(Load load, const fem::Mesh& mesh, const fem::Materials& materials);

} // namespace kumihimo::fem_cube
