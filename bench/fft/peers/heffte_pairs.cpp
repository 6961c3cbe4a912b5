// Pairs of complex transforms by heFFTe over FFTW: slabs of x before, slabs of y after. Built by mpicxx with -lheffte;
// arguments: points along an axis, pairs, exchange (alltoallv or p2p_plined), pencils (1: lines along one axis in each
// stage; 0: planes and lines). Prints JSON.
#include <heffte.h>
#include <mpi.h>

#include <algorithm>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

// A plan frees its communicators: it ends before MPI does.
void run(int rank, int ranks, char** argv) {
  const int n = std::atoi(argv[1]), pairs = std::atoi(argv[2]);
  const heffte::box3d<> world({0, 0, 0}, {n - 1, n - 1, n - 1}); // the first axis is contiguous
  double start = MPI_Wtime();
  auto options = heffte::default_options<heffte::backend::fftw>();
  options.algorithm = std::string(argv[3]) == "alltoallv" ? heffte::reshape_algorithm::alltoallv
                                                          : heffte::reshape_algorithm::p2p_plined;
  options.use_pencils = std::atoi(argv[4]) != 0;
  const auto before = heffte::split_world(world, {1, 1, ranks}), after = heffte::split_world(world, {1, ranks, 1});
  const auto own = static_cast<std::size_t>(rank);
  heffte::fft3d<heffte::backend::fftw> fft(before[own], after[own], MPI_COMM_WORLD, options);
  std::vector<std::complex<double>> a(fft.size_inbox()), b(fft.size_outbox()), work(fft.size_workspace());
  const double planning = MPI_Wtime() - start;
  double sum = 0;
  for (int pair = 0; pair < pairs + 1; ++pair) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<double>(i % 7);
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    fft.forward(a.data(), b.data(), work.data());
    fft.backward(b.data(), a.data(), work.data());
    double seconds = (MPI_Wtime() - start) / 2, slowest = 0;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (pair > 0) sum += slowest;
  }
  if (rank == 0) std::printf("{\"seconds\": %.9g, \"planning\": %.9g}\n", sum / pairs, planning);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc == 5) run(rank, ranks, argv);
  MPI_Finalize();
  return argc == 5 ? 0 : 2;
}
