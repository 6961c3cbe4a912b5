// A rank's part of the problem, before any variant: its nodes and elements, materials, load case and halo.
#pragma once

#include "application/runtime.hpp"
#include "fem_cube/load_case.hpp"
#include "fem_cube/node_halo.hpp"
#include "fem_cube/options.hpp"

#include <memory>

namespace kumihimo::fem_cube {

struct FemProblem {
  fem::Mesh mesh;
  fem::Materials materials;
  LoadCase load_case;
  std::unique_ptr<NodeHalo> halo;

  std::int64_t owned_displacements() const { return 3 * mesh.owned; }
  std::int64_t displacements() const { return 3 * mesh.node_count(); }
  double elements_of_cube() const;
};

// Collective. `nodes`: of the whole cube. Errors: fewer than 2 nodes an axis, those of the mesh, of materials, memory
// and transport; all ranks get the same.
Result<FemProblem> make_problem(const FemOptions& options, const fem::Triple& nodes, const application::RankGrid& ranks,
                                application::Runtime& runtime);

} // namespace kumihimo::fem_cube
