// peer_petsc SIZE [options of PETSc]: e.g. -ksp_type cg -pc_type icc. On several ranks, which each make the whole
// matrix and keep their rows.
#include "report.hpp"

#include <petscksp.h>

using namespace kumihimo;

namespace {

PetscErrorCode solve(const sparse::CrsMatrix& a) {
  Mat matrix;
  Vec b, x;
  KSP solver;
  PetscFunctionBeginUser;
  PetscCall(
      MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, a.rows, a.rows, 7, nullptr, 7, nullptr, &matrix));
  PetscInt first, end;
  PetscCall(MatGetOwnershipRange(matrix, &first, &end));
  for (PetscInt i = first; i < end; ++i)
    PetscCall(MatSetValues(matrix, 1, &i, static_cast<PetscInt>(a.begin[i + 1] - a.begin[i]), &a.column[a.begin[i]],
                           &a.value[a.begin[i]], INSERT_VALUES));
  PetscCall(MatAssemblyBegin(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatAssemblyEnd(matrix, MAT_FINAL_ASSEMBLY));
  PetscCall(MatSetOption(matrix, MAT_SYMMETRIC, PETSC_TRUE));
  PetscCall(MatCreateVecs(matrix, &x, &b));
  PetscCall(VecSet(b, 1));

  const double before = peers::now();
  PetscCall(KSPCreate(PETSC_COMM_WORLD, &solver));
  PetscCall(KSPSetOperators(solver, matrix, matrix));
  PetscCall(KSPSetTolerances(solver, peers::tolerance, PETSC_DEFAULT, PETSC_DEFAULT, peers::most_iterations));
  PetscCall(KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED));
  PetscCall(KSPSetFromOptions(solver));
  PetscCall(KSPSetUp(solver));
  PetscCall(KSPSetUpOnBlocks(solver));
  const double start = peers::now();
  PetscCall(KSPSolve(solver, b, x));
  const double done = peers::now();
  PetscInt iterations;
  PetscCall(KSPGetIterationNumber(solver, &iterations));
  PetscReal residual, norm;
  PetscCall(VecNorm(b, NORM_2, &norm));
  PetscCall(VecScale(b, -1));
  Vec product;
  PetscCall(VecDuplicate(b, &product));
  PetscCall(MatMultAdd(matrix, x, b, product));
  PetscCall(VecNorm(product, NORM_2, &residual));
  int rank;
  MPI_Comm_rank(PETSC_COMM_WORLD, &rank);
  if (rank == 0) peers::report(static_cast<int>(iterations), start - before, done - start, residual / norm);
  PetscFunctionReturn(0);
}

} // namespace

int main(int count, char** arguments) {
  if (PetscInitialize(&count, &arguments, nullptr, nullptr)) return 1;
  if (solve(peers::matrix_of(count, arguments))) return 1;
  return PetscFinalize() != 0;
}
