#include "fem_cube/problem.hpp"

namespace kumihimo::fem_cube {

namespace {

Result<FemProblem> without_halo(const FemOptions& options, const fem::Triple& nodes, const application::RankGrid& ranks,
                                std::int32_t rank) {
  const auto part = ranks.part(nodes, rank);
  fem::Triple low{}, box{};
  for (std::size_t a = 0; a < 3; ++a) low[a] = part[a].begin, box[a] = part[a].size();
  const fem::NodeGrid grid = TRY(fem::part_of_cube(nodes, low, box));
  FemProblem made;
  made.mesh = TRY(fem::make_mesh(grid, options.distortion));
  made.materials = TRY(fem::varied_materials(made.mesh, 1, options.poisson_ratio, options.spread));
  made.load_case = make_load_case(options.load, made.mesh, made.materials);
  return made;
}

} // namespace

double FemProblem::elements_of_cube() const {
  double count = 1;
  for (const std::int64_t n : mesh.grid.nodes) count *= static_cast<double>(n - 1);
  return count;
}

Result<FemProblem> make_problem(const FemOptions& options, const fem::Triple& nodes, const application::RankGrid& ranks,
                                application::Runtime& runtime) {
  Result<FemProblem> made = without_halo(options, nodes, ranks, runtime.rank());
  if (Status s = runtime.agree_on(made); !s) return s.error();
  made->halo = TRY(NodeHalo::make(made->mesh.grid, ranks, runtime));
  return made;
}

} // namespace kumihimo::fem_cube
