// Ranks that compute in OpenMP threads, and meet: ./hybrid SECONDS [blas]. With blas each thread calls DGEMM.
#include <dlfcn.h>
#include <mpi.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef void (*Dgemm)(int, int, int, int, int, int, double, const double*, int, const double*, int, double, double*,
                      int);
enum { row_major = 101, no_transpose = 111, n = 256 };

static double sum(void) {
  volatile double total = 0;
  for (int i = 0; i < 1000000; ++i) total = total + 1e-9 * i;
  return total;
}

int main(int argc, char** argv) {
  int provided = 0, more = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const double end = MPI_Wtime() + atof(argv[1]);
  Dgemm dgemm = NULL;
  if (argc > 2 && strcmp(argv[2], "blas") == 0) {
    void* const library = dlopen("libopenblas.so.0", RTLD_NOW);
    dgemm = library ? (Dgemm)dlsym(library, "cblas_dgemm") : NULL;
    if (!dgemm) fprintf(stderr, "no OpenBLAS\n"), exit(77);
  }
  while (more) {
#pragma omp parallel
    {
      if (dgemm) {
        double* const a = calloc(3 * n * n, sizeof *a);
        dgemm(row_major, no_transpose, no_transpose, n, n, n, 1.0, a, n, a + n * n, n, 0.0, a + 2 * n * n, n);
        free(a);
      } else {
        sum();
      }
    }
    more = MPI_Wtime() < end;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
