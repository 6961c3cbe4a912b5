// Loads of the owned nodes: the integrals of a force against the shape functions. Elements between two boxes are
// computed on both sides, so the loads are complete without messages.
#pragma once

#include "fem/constraints.hpp"
#include "fem/mesh.hpp"

#include <functional>
#include <span>

namespace kumihimo::fem {

// Adds a force per volume at points x, y, z, at 2 x 2 x 2 Gauss points of each element. `load`: 3 of each owned node.
void add_body_force(const Mesh& mesh, const std::function<Vector3(const double*)>& force, std::span<double> load);

// Adds a force per area on the face x = 1 of the cube, at 2 x 2 Gauss points of each face of an element.
void add_traction(const Mesh& mesh, const Vector3& traction, std::span<double> load);

} // namespace kumihimo::fem
