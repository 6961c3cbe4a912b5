// Pairs of transforms of bands by SpFFT. Of a sphere the columns and their owners are those of fft3d: radius n / 4, the
// longest column first to the rank with the fewest coefficients. Of whole grids a rank has the columns of its slab of
// x. Built by mpicxx with -lspfft; arguments: sphere or grid, points along an axis, bands, pairs, bands at once
// (multi_transform), exchange. Prints JSON; ends with 3 if the values do not come back.
#include <mpi.h>
#include <spfft/spfft.hpp>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

struct OwnColumns {
  int number = 0;
  std::vector<int> indices; // x, y and z of each coefficient
};

int first_of_slab(int n, int rank, int ranks) { return static_cast<int>(static_cast<long>(n) * rank / ranks); }

OwnColumns of_grid(int n, int rank, int ranks) {
  OwnColumns own;
  const int begin = first_of_slab(n, rank, ranks), end = first_of_slab(n, rank + 1, ranks);
  own.number = (end - begin) * n;
  own.indices.reserve(static_cast<std::size_t>(own.number) * static_cast<std::size_t>(3 * n));
  for (int x = begin; x < end; ++x)
    for (int y = 0; y < n; ++y)
      for (int z = 0; z < n; ++z) own.indices.insert(own.indices.end(), {x, y, z});
  return own;
}

OwnColumns of_sphere(int n, int rank, int ranks) {
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
  OwnColumns own;
  for (const Column& column : columns) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += 2 * column.reach + 1;
    if (least - load.begin() != rank) continue;
    ++own.number;
    for (int z = -column.reach; z <= column.reach; ++z) own.indices.insert(own.indices.end(), {column.x, column.y, z});
  }
  return own;
}

SpfftExchangeType exchange_of(const std::string& name) {
  if (name == "alltoall") return SPFFT_EXCH_BUFFERED;
  if (name == "alltoallw") return SPFFT_EXCH_UNBUFFERED;
  return name == "float" ? SPFFT_EXCH_COMPACT_BUFFERED_FLOAT : SPFFT_EXCH_COMPACT_BUFFERED; // alltoallv
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const bool is_sphere = std::string(argv[1]) == "sphere";
  const int n = std::atoi(argv[2]), bands = std::atoi(argv[3]), pairs = std::atoi(argv[4]);
  const int at_once = std::atoi(argv[5]);
  const SpfftExchangeType exchange = exchange_of(argv[6]);
  const OwnColumns own = is_sphere ? of_sphere(n, rank, ranks) : of_grid(n, rank, ranks);
  const int depth = first_of_slab(n, rank + 1, ranks) - first_of_slab(n, rank, ranks);
  const auto count = own.indices.size() / 3;

  double start = MPI_Wtime();
  std::vector<spfft::Grid> grids; // a transform of several at once needs a grid of its own
  std::vector<spfft::Transform> transforms;
  for (int i = 0; i < at_once; ++i) {
    grids.emplace_back(n, n, n, own.number, depth, SPFFT_PU_HOST, 1, MPI_COMM_WORLD, exchange);
    transforms.push_back(grids.back().create_transform(SPFFT_PU_HOST, SPFFT_TRANS_C2C, n, n, n, depth,
                                                       static_cast<int>(count), SPFFT_INDEX_TRIPLETS,
                                                       own.indices.data()));
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
  const std::complex<double> expected = std::pow(static_cast<double>(n), 3) * std::complex<double>(1, 2);
  for (const auto& band : out)
    for (const auto& each : band)
      if (!(std::abs(each - expected) < 1e-5 * std::abs(expected))) MPI_Abort(MPI_COMM_WORLD, 3);
  if (rank == 0) std::printf("{\"seconds\": %.9g, \"planning\": %.9g}\n", sum / pairs, planning);
  MPI_Finalize();
  return 0;
}
