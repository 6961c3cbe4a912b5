/* Reductions of types and with operations that have no kernel of ours, which the library runs, and one that has. */
#include <mpi.h>

int main(int argc, char** argv) {
  static long double mine[300], sum[300];
  static double pairs[600], product[600];
  MPI_Init(&argc, &argv);
  for (int i = 0; i < 10; ++i) MPI_Allreduce(mine, sum, 300, MPI_LONG_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  for (int i = 0; i < 20; ++i) MPI_Allreduce(pairs, product, 300, MPI_C_DOUBLE_COMPLEX, MPI_PROD, MPI_COMM_WORLD);
  MPI_Allreduce(pairs, product, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
