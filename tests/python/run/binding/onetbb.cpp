// Ranks that compute in threads of oneTBB: ./onetbb SECONDS.
#include <mpi.h>
#include <tbb/parallel_for.h>

#include <cstdlib>

int main(int argc, char** argv) {
  int provided = 0, more = 1;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  const double end = MPI_Wtime() + std::atof(argv[1]);
  while (more) {
    tbb::parallel_for(0, 64, [](int) {
      volatile double total = 0;
      for (int i = 0; i < 100000; ++i) total = total + 1e-9 * i;
    });
    more = MPI_Wtime() < end;
    MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
  }
  MPI_Finalize();
  return 0;
}
