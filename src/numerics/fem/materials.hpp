// Isotropic linear elastic material of each element, as Lame's constants in the unit of the modulus.
#pragma once

#include "base/result.hpp"
#include "fem/mesh.hpp"
#include "threads/array.hpp"

#include <cstdint>
#include <span>

namespace kumihimo::fem {

struct Materials {
  threads::ThreadedArray<double> lambda, mu;
};

// Of each element Young's modulus, positive and finite, and Poisson's ratio, above -1 and below 0.5. Errors name the
// element.
Result<Materials> make_materials(std::span<const double> young, std::span<const double> poisson);

// The modulus of an element is `young` times 1 + spread u, u in [0, 1) from its number in the whole cube; one ratio.
Result<Materials> varied_materials(const Mesh& mesh, double young, double poisson, double spread = 0);

} // namespace kumihimo::fem
