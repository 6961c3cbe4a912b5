// Prescribed displacements, eliminated on both sides so that the matrix stays symmetric and becomes positive definite:
//   rows and columns of prescribed displacements lose their entries but the diagonal one d, the load of a free row
//   loses A u of the prescribed displacements u, and the load of a prescribed row is d u.
#pragma once

#include "base/result.hpp"
#include "fem/matrix.hpp"
#include "fem/mesh.hpp"

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace kumihimo::fem {

using Vector3 = std::array<double, 3>;

// Of every local node, ghosts too: so each process eliminates its rows without messages.
struct Constraints {
  std::vector<std::uint8_t> is_fixed; // 3 of each node
  std::vector<double> values;         // 3 of each node; 0 where free
};

Constraints no_constraints(const Mesh& mesh);
// Prescribes all three displacements of the nodes whose global place satisfies `where`.
void fix(Constraints& constraints, const Mesh& mesh, const std::function<bool(const Triple&)>& where,
         const std::function<Vector3(const double*)>& displacement);

// The face x = 0 fixed; on the face x = 1 `displacement` prescribed.
Constraints stretched_cube(const Mesh& mesh, const Vector3& displacement);
// The face x = 0 fixed.
Constraints fixed_face(const Mesh& mesh);

// Eliminates in the owned rows of the matrix and of `load` (3 of each owned node). Error: a size is wrong, or an
// entry on the diagonal is not positive (no element touches the node): names the node.
Status eliminate(const Constraints& constraints, BlockMatrix& matrix, std::span<double> load);

} // namespace kumihimo::fem
