/* Poisson's equation on a box, by conjugate gradients with hypre's multigrid PFMG: a real program to record.
 *
 *     poisson_hypre PX PY PZ CELLS   with PX*PY*PZ ranks, each with CELLS^3 cells; x runs fastest over ranks
 *
 * Prints the iterations and the relative residual; exits with 1 if that is above 1e-8. */
#include <HYPRE_struct_ls.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { entries = 7 };

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank, ranks, p[3] = {1, 1, 1}, cells = 4;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  for (int axis = 0; axis < 3 && axis + 1 < argc; ++axis) p[axis] = atoi(argv[axis + 1]);
  if (argc > 4) cells = atoi(argv[4]);
  if (p[0] * p[1] * p[2] != ranks || cells < 1) {
    if (rank == 0) fprintf(stderr, "poisson_hypre: PX*PY*PZ must be the number of ranks, and CELLS at least 1\n");
    MPI_Finalize();
    return 2;
  }
  int place[3] = {rank % p[0], rank / p[0] % p[1], rank / (p[0] * p[1])}, low[3], high[3];
  for (int axis = 0; axis < 3; ++axis) low[axis] = place[axis] * cells, high[axis] = low[axis] + cells - 1;

  HYPRE_StructGrid grid;
  HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &grid);
  HYPRE_StructGridSetExtents(grid, low, high);
  HYPRE_StructGridAssemble(grid);
  int offsets[entries][3] = {{0, 0, 0}, {-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}, {0, 0, -1}, {0, 0, 1}};
  HYPRE_StructStencil stencil;
  HYPRE_StructStencilCreate(3, entries, &stencil);
  for (int entry = 0; entry < entries; ++entry) HYPRE_StructStencilSetElement(stencil, entry, offsets[entry]);

  HYPRE_StructMatrix a;
  HYPRE_StructMatrixCreate(MPI_COMM_WORLD, grid, stencil, &a);
  HYPRE_StructMatrixInitialize(a);
  const int count = cells * cells * cells;
  double* values = malloc(sizeof(double) * (size_t)count * entries);
  int all[entries];
  for (int entry = 0; entry < entries; ++entry) all[entry] = entry;
  for (int cell = 0; cell < count; ++cell) {
    const int at[3] = {low[0] + cell % cells, low[1] + cell / cells % cells, low[2] + cell / (cells * cells)};
    for (int entry = 0; entry < entries; ++entry) {
      int inside = 1;
      for (int axis = 0; axis < 3; ++axis) {
        const int there = at[axis] + offsets[entry][axis];
        if (there < 0 || there >= p[axis] * cells) inside = 0;
      }
      values[cell * entries + entry] = entry == 0 ? 6 : inside ? -1 : 0;
    }
  }
  HYPRE_StructMatrixSetBoxValues(a, low, high, entries, all, values);
  HYPRE_StructMatrixAssemble(a);

  HYPRE_StructVector b, x;
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &b);
  HYPRE_StructVectorCreate(MPI_COMM_WORLD, grid, &x);
  HYPRE_StructVectorInitialize(b);
  HYPRE_StructVectorInitialize(x);
  for (int cell = 0; cell < count; ++cell) values[cell] = 1;
  HYPRE_StructVectorSetBoxValues(b, low, high, values);
  for (int cell = 0; cell < count; ++cell) values[cell] = 0;
  HYPRE_StructVectorSetBoxValues(x, low, high, values);
  HYPRE_StructVectorAssemble(b);
  HYPRE_StructVectorAssemble(x);

  HYPRE_StructSolver solver, multigrid;
  HYPRE_StructPCGCreate(MPI_COMM_WORLD, &solver);
  HYPRE_StructPCGSetTol(solver, 1e-8);
  HYPRE_StructPCGSetMaxIter(solver, 100);
  HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &multigrid);
  HYPRE_StructPFMGSetMaxIter(multigrid, 1);
  HYPRE_StructPFMGSetTol(multigrid, 0);
  HYPRE_StructPFMGSetZeroGuess(multigrid);
  HYPRE_StructPCGSetPrecond(solver, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, multigrid);
  HYPRE_StructPCGSetup(solver, a, b, x);
  HYPRE_StructPCGSolve(solver, a, b, x);
  HYPRE_Int iterations;
  double residual;
  HYPRE_StructPCGGetNumIterations(solver, &iterations);
  HYPRE_StructPCGGetFinalRelativeResidualNorm(solver, &residual);
  if (rank == 0) printf("%d iterations, residual %.2e\n", (int)iterations, residual);

  HYPRE_StructPCGDestroy(solver);
  HYPRE_StructPFMGDestroy(multigrid);
  HYPRE_StructVectorDestroy(x);
  HYPRE_StructVectorDestroy(b);
  HYPRE_StructMatrixDestroy(a);
  HYPRE_StructStencilDestroy(stencil);
  HYPRE_StructGridDestroy(grid);
  free(values);
  MPI_Finalize();
  return residual > 1e-8;
}
