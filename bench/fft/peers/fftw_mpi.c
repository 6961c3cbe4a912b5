/* Pairs of complex transforms by FFTW's MPI interface, spectrum transposed (its fastest form).
   mpicc -O2 fftw_mpi.c -lfftw3_mpi -lfftw3 -lm; arguments: points along an axis, pairs. Prints JSON. */
#include <fftw3-mpi.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  fftw_mpi_init();
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const ptrdiff_t n = atol(argv[1]);
  const int pairs = atoi(argv[2]);
  ptrdiff_t local, first, out_local, out_first;
  const ptrdiff_t size =
      fftw_mpi_local_size_3d_transposed(n, n, n, MPI_COMM_WORLD, &local, &first, &out_local, &out_first);
  fftw_complex *const a = fftw_alloc_complex(size), *const b = fftw_alloc_complex(size);
  double start = MPI_Wtime();
  const fftw_plan forward =
      fftw_mpi_plan_dft_3d(n, n, n, a, b, MPI_COMM_WORLD, FFTW_FORWARD, FFTW_MEASURE | FFTW_MPI_TRANSPOSED_OUT);
  const fftw_plan backward =
      fftw_mpi_plan_dft_3d(n, n, n, b, a, MPI_COMM_WORLD, FFTW_BACKWARD, FFTW_MEASURE | FFTW_MPI_TRANSPOSED_IN);
  const double planning = MPI_Wtime() - start;
  for (ptrdiff_t i = 0; i < size; ++i) a[i][0] = a[i][1] = (double)(i % 7);
  double sum = 0;
  for (int pair = 0; pair < pairs + 1; ++pair) {
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    fftw_execute(forward);
    fftw_execute(backward);
    double seconds = (MPI_Wtime() - start) / 2, slowest;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (pair > 0) sum += slowest;
    for (ptrdiff_t i = 0; i < size; ++i) a[i][0] = a[i][1] = (double)(i % 7);
  }
  if (rank == 0) printf("{\"seconds\": %.9g, \"planning\": %.9g}\n", sum / pairs, planning);
  MPI_Finalize();
  return 0;
}
