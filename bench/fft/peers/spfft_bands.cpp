// Pairs of transforms of bands in a sphere by SpFFT. The sphere and its columns' owners are those of fft3d: radius n /
// 4, the longest column first to the rank with the fewest coefficients. Built by mpicxx with -lspfft; arguments: points
// along an axis, bands, pairs, bands at once (multi_transform), float (1: single precision in messages). Prints JSON.
#include <mpi.h>
#include <spfft/spfft.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int n = std::atoi(argv[1]), bands = std::atoi(argv[2]), pairs = std::atoi(argv[3]);
  const int at_once = std::atoi(argv[4]);
  const bool is_float = std::atoi(argv[5]) != 0;
  const int radius = n / 4;
  struct Column {
    int x, y, reach;
  };
  std::vector<Column> columns;
  for (int x = -radius; x <= radius; ++x)
    for (int y = -radius; y <= radius; ++y)
      if (const int rest = radius * radius - x * x - y * y; rest >= 0)
        columns.push_back({x, y, static_cast<int>(std::sqrt(static_cast<double>(rest)))});
  std::stable_sort(columns.begin(), columns.end(), [](const Column& a, const Column& b) { return a.reach > b.reach; });
  std::vector<long> load(static_cast<std::size_t>(ranks));
  std::vector<int> indices;
  int own = 0;
  for (const Column& column : columns) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += 2 * column.reach + 1;
    if (least - load.begin() != rank) continue;
    ++own;
    for (int z = -column.reach; z <= column.reach; ++z) indices.insert(indices.end(), {column.x, column.y, z});
  }
  const int depth = static_cast<int>(static_cast<long>(n) * (rank + 1) / ranks - static_cast<long>(n) * rank / ranks);
  const auto count = indices.size() / 3;

  double start = MPI_Wtime();
  std::vector<spfft::Grid> grids; // a transform of several at once needs a grid of its own
  std::vector<spfft::Transform> transforms;
  for (int i = 0; i < at_once; ++i) {
    grids.emplace_back(n, n, n, own, depth, SPFFT_PU_HOST, 1, MPI_COMM_WORLD,
                       is_float ? SPFFT_EXCH_COMPACT_BUFFERED_FLOAT : SPFFT_EXCH_COMPACT_BUFFERED);
    transforms.push_back(grids.back().create_transform(SPFFT_PU_HOST, SPFFT_TRANS_C2C, n, n, n, depth,
                                                       static_cast<int>(count), SPFFT_INDEX_TRIPLETS, indices.data()));
  }
  const double planning = MPI_Wtime() - start;
  std::vector<std::vector<std::complex<double>>> in(static_cast<std::size_t>(bands)), out(in.size());
  for (auto& each : in) each.assign(count, {1, 2});
  for (auto& each : out) each.resize(count);
  const std::vector<SpfftProcessingUnitType> host(static_cast<std::size_t>(at_once), SPFFT_PU_HOST);
  const std::vector<SpfftScalingType> none(host.size(), SPFFT_NO_SCALING);
  double sum = 0;
  for (int pair = 0; pair < pairs + 1; ++pair) {
    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    for (int band = 0; band < bands; band += at_once) {
      const int some = std::min(at_once, bands - band);
      std::vector<const double*> from;
      std::vector<double*> to;
      for (int i = 0; i < some; ++i) {
        from.push_back(reinterpret_cast<const double*>(in[static_cast<std::size_t>(band + i)].data()));
        to.push_back(reinterpret_cast<double*>(out[static_cast<std::size_t>(band + i)].data()));
      }
      spfft::multi_transform_backward(some, transforms.data(), from.data(), host.data());
      spfft::multi_transform_forward(some, transforms.data(), host.data(), to.data(), none.data());
    }
    double seconds = (MPI_Wtime() - start) / (2 * bands), slowest = 0;
    MPI_Allreduce(&seconds, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    if (pair > 0) sum += slowest;
  }
  if (rank == 0) std::printf("{\"seconds\": %.9g, \"planning\": %.9g}\n", sum / pairs, planning);
  MPI_Finalize();
  return 0;
}
