/* Time of MPI_Allreduce of 8 bytes of host memory, and of a question to CUDA about a pointer. The argument is the file
 * of the driver; without one none is loaded. bench/results/gpu-buffers.md says how it is run. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static double time_of(int n) {
  double in = 1, out;
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int i = 0; i < n; ++i) MPI_Allreduce(&in, &out, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return (MPI_Wtime() - begin) / n * 1e6;
}
static int by(const void* a, const void* b) { return *(double*)a < *(double*)b ? -1 : 1; }
int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  void* driver = argc > 1 ? dlopen(argv[1], RTLD_LAZY) : 0;
  void* context;
  int gpu;
  double query = 0;
  if (driver) {
    ((int (*)(unsigned))dlsym(driver, "cuInit"))(0);
    ((int (*)(int*, int))dlsym(driver, "cuDeviceGet"))(&gpu, 0);
    ((int (*)(void**, int))dlsym(driver, "cuDevicePrimaryCtxRetain"))(&context, gpu);
    ((int (*)(void*))dlsym(driver, "cuCtxSetCurrent"))(context);
    int (*ask)(unsigned, const int*, void**, unsigned long long) = dlsym(driver, "cuPointerGetAttributes");
    int what[2] = {2, 8};
    unsigned a, b;
    void* v[2] = {&a, &b};
    double begin = MPI_Wtime();
    for (int i = 0; i < 200000; ++i) ask(2, what, v, (unsigned long long)&query);
    query = (MPI_Wtime() - begin) / 200000 * 1e9;
  }
  double t[21];
  time_of(20000);
  for (int i = 0; i < 21; ++i) t[i] = time_of(5000);
  qsort(t, 21, sizeof *t, by);
  if (!rank)
    printf("driver %d: allreduce of 8 B: median %.3f us (%.3f to %.3f), question %.0f ns\n", driver != 0, t[10], t[5],
           t[15], query);
  MPI_Finalize();
}
