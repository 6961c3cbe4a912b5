// peer_petsc_assembly NODES [assemblies = 3]: assembly of the cube of fem_bench into PETSc's block matrix (BAIJ, 3 x 3)
// by MatSetValuesBlocked, with the element kernel of the golden copy. On several ranks, each has the elements of a slab
// of layers and keeps the rows of its nodes. Prints one JSON object on one line: million elements a second of the
// median assembly with known structure, and of the element kernel alone.
#include "fem/golden.hpp"
#include "fem/grid.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <petscmat.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace kumihimo;

namespace {

struct Problem {
  fem::Mesh mesh;
  fem::Materials materials;
};

Result<Problem> make_problem(std::int64_t nodes) {
  Problem made;
  const fem::NodeGrid grid = TRY(fem::whole_cube(nodes));
  made.mesh = TRY(fem::make_mesh(grid, 0.2));
  made.materials = TRY(fem::varied_materials(made.mesh, 1, 0.3, 1));
  return made;
}

double median(std::vector<double> of) {
  std::sort(of.begin(), of.end());
  return of[of.size() / 2];
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

PetscErrorCode assemble(const Problem& problem, threads::IndexRange elements, Mat matrix) {
  PetscFunctionBeginUser;
  PetscCall(MatZeroEntries(matrix));
  fem::Stiffness stiffness;
  for (std::int64_t e = elements.begin; e < elements.end; ++e) {
    fem::stiffness_golden(problem.mesh, problem.materials, e, stiffness);
    const std::int32_t* const nodes = problem.mesh.element(e);
    PetscCall(MatSetValuesBlocked(matrix, fem::corners, nodes, fem::corners, nodes, &stiffness[0][0], ADD_VALUES));
  }
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscFunctionReturn(0);
}

PetscErrorCode measure(const Problem& problem, std::int64_t nodes, int assemblies) {
  int rank, ranks;
  Mat matrix;
  PetscFunctionBeginUser;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  MPI_Comm_size(PETSC_COMM_WORLD, &ranks);
  // Whole layers, so that only the elements between two slabs add to rows of another rank.
  const threads::IndexRange layers = threads::part(nodes, rank, ranks);
  const std::int64_t plane = nodes * nodes, in_layer = (nodes - 1) * (nodes - 1);
  const threads::IndexRange elements{layers.begin * in_layer, std::min(layers.end, nodes - 1) * in_layer};
  const auto rows = static_cast<PetscInt>(3 * plane * layers.size());
  PetscCall(MatCreateBAIJ(PETSC_COMM_WORLD, 3, rows, rows, PETSC_DETERMINE, PETSC_DETERMINE, 27, nullptr, 18, nullptr,
                          &matrix));
  PetscCall(assemble(problem, elements, matrix)); // makes the structure
  std::vector<double> whole, kernel;
  double sum = 0;
  for (int i = 0; i < assemblies; ++i) {
    MPI_Barrier(PETSC_COMM_WORLD);
    double start = now();
    PetscCall(assemble(problem, elements, matrix));
    MPI_Barrier(PETSC_COMM_WORLD);
    whole.push_back(now() - start);
    start = now();
    fem::Stiffness stiffness;
    for (std::int64_t e = elements.begin; e < elements.end; ++e) {
      fem::stiffness_golden(problem.mesh, problem.materials, e, stiffness);
      sum += stiffness[0][0];
    }
    MPI_Barrier(PETSC_COMM_WORLD);
    kernel.push_back(now() - start);
  }
  const auto all = static_cast<double>(problem.mesh.element_count()) * 1e-6;
  if (rank == 0)
    std::printf("{\"melements_per_second\": %.4f, \"kernel_alone\": %.4f, \"sum\": %.6e}\n", all / median(whole),
                all / median(kernel), sum);
  PetscCall(MatDestroy(&matrix));
  PetscFunctionReturn(0);
}

} // namespace

int main(int count, char** arguments) {
  if (PetscInitialize(&count, &arguments, nullptr, nullptr)) return 1;
  const std::int64_t nodes = count > 1 ? std::atoll(arguments[1]) : 64;
  const Status one = threads::use(1);
  const Result<Problem> problem = make_problem(nodes);
  if (!one || !problem) {
    std::fprintf(stderr, "%s\n", (!one ? one.error() : problem.error()).sentence().c_str());
    return 1;
  }
  if (measure(*problem, nodes, count > 2 ? std::max(1, std::atoi(arguments[2])) : 3)) return 1;
  return PetscFinalize() != 0;
}
