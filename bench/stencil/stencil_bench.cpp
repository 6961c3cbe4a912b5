// One measurement of the stencils, for compare.py: prints {"wall": rate, "processor": rate}.
//   stencil_bench himeno SIZE SWEEPS THREADS VARIANT    rate: GFLOPS
//   stencil_bench fdtd2d POINTS STEPS THREADS VARIANT   rate: Mcell/s, float32; VARIANT plain: the loops of
//   plain_loops.cpp stencil_bench triad MEBIBYTES REPEATS THREADS       rate: GB/s as STREAM counts
// Wavefronts take LEVELS and ROWS (COLUMNS) as two more words. The best of three repetitions, the first of which is not
// counted: it has the page faults.
#include "measure/clock.hpp"
#include "node_bench/stream_kernels.hpp"
#include "plain_loops.hpp"
#include "stencil/fdtd2d/variants.hpp"
#include "stencil/fdtd2d/wavefront.hpp"
#include "stencil/himeno/variants.hpp"
#include "stencil/himeno/wavefront.hpp"
#include "threads/partition.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>

using namespace kumihimo;

namespace {

double processor_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// `work` per call; prints the best rate by each clock. Processor time of several threads counts once.
template <class Call>
int print_rates(double work, Call call) {
  call();
  double wall = 1e300, processor = 1e300;
  for (int i = 0; i < 3; ++i) {
    const std::int64_t start = measure::now_ns();
    const double before = processor_seconds();
    call();
    processor = std::min(processor, (processor_seconds() - before) / threads::count());
    wall = std::min(wall, measure::seconds_since(start));
  }
  std::printf("{\"wall\": %.6g, \"processor\": %.6g}\n", work / wall, work / processor);
  return 0;
}

int himeno_rates(const std::string& size, int sweeps, const std::string& name, int levels, int rows) {
  const himeno::Triple points = *himeno::parse_size(size);
  himeno::HimenoGrid grid =
      std::move(*himeno::HimenoGrid::make({points, {}, {points[0] - 2, points[1] - 2, points[2] - 2}, 1}));
  std::vector<double> gosa(static_cast<std::size_t>(grid.rows() * levels));
  const double work = 1e-9 * static_cast<double>(grid.all().cells() * himeno::flops_of_cell) * sweeps;
  for (const himeno::HimenoVariant& variant : himeno::variants()) {
    if (variant.name != name) continue;
    return print_rates(work, [&] {
      for (int s = 0; s < sweeps; s += variant.sweep ? 1 : levels) {
        if (variant.sweep) {
          variant.sweep(grid, grid.all(), gosa.data());
          variant.finish(grid);
        } else {
          run_wavefront(grid, {std::min(levels, sweeps - s), rows, {}}, gosa.data());
        }
      }
    });
  }
  return std::fprintf(stderr, "there is no variant %s\n", name.c_str()), 2;
}

int plain_rates(long points, int steps) {
  const long row = points + 16; // rows of the usual sizes would compete for lines of the cache
  std::vector<float> ez(static_cast<std::size_t>(row * points)), hx = ez, hy = ez;
  ez[static_cast<std::size_t>(row * points / 2 + points / 2)] = 1;
  return print_rates(1e-6 * static_cast<double>(points * points) * steps, [&] {
    for (int s = 0; s < steps; ++s) plain::step(ez.data(), hx.data(), hy.data(), points, row, 0.5F);
  });
}

int fdtd2d_rates(long points, int steps, const std::string& name, int levels, int columns) {
  if (name == "plain") return plain_rates(points, steps);
  fdtd2d::FieldShape shape;
  shape.points = shape.cells = {points, points};
  const auto fields = std::move(*fdtd2d::Fields<float>::make(shape));
  const fdtd2d::WaveSource source{{points / 2, points / 2}, 20};
  const fdtd2d::NodeBox e = nodes_of_e(shape), h = places_of_h(e);
  for (const fdtd2d::FdtdVariant& variant : fdtd2d::variants()) {
    if (variant.name != name) continue;
    std::int64_t done = 0;
    return print_rates(1e-6 * static_cast<double>(points * points) * steps, [&] {
      for (const std::int64_t end = done + steps; done < end;) {
        if (variant.is_wavefront()) {
          const int now = static_cast<int>(std::min<std::int64_t>(levels, end - done));
          run_wavefront(fields, {now, columns, {}}, source, done);
          done += now;
        } else {
          variant.of_float.update_h(fields, h);
          variant.of_float.update_e(fields, e);
          fields.ez[fields.at(points / 2, points / 2)] += static_cast<float>(source.added(done++, shape.courant));
        }
      }
    });
  }
  return std::fprintf(stderr, "there is no variant %s\n", name.c_str()), 2;
}

int triad_rates(std::int64_t mebibytes, int repeats) {
  const std::int64_t lines = (mebibytes << 20) / 64;
  auto a = std::move(*threads::ThreadedArray<double>::zeros(8 * lines)),
       b = std::move(*threads::ThreadedArray<double>::zeros(8 * lines)),
       c = std::move(*threads::ThreadedArray<double>::zeros(8 * lines));
  const node_bench::StreamArrays arrays{a.data(), b.data(), c.data()};
  const int team = threads::count();
  return print_rates(24e-9 * static_cast<double>(8 * lines) * repeats, [&] {
    for (int r = 0; r < repeats; ++r) {
#pragma omp parallel for schedule(static, 1) num_threads(team)
      for (int i = 0; i < team; ++i) {
        const threads::IndexRange mine = threads::part(lines, i, team);
        node_bench::run_stream(3, node_bench::Stores::cached, arrays, 3.0, 8 * mine.begin, 8 * mine.end);
      }
    }
  });
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() < 4) return std::fputs("usage: see stencil_bench.cpp\n", stderr), 2;
  const int repeats = std::atoi(words[2].c_str());
  if (const Status s = threads::use(std::atoi(words[3].c_str())); !s) return 2;
  threads::bind();
  if (words[0] == "triad") return triad_rates(std::atoll(words[1].c_str()), repeats);
  if (words.size() < 5) return std::fputs("usage: see stencil_bench.cpp\n", stderr), 2;
  const bool is_himeno = words[0] == "himeno";
  const int levels = words.size() > 5 ? std::atoi(words[5].c_str()) : is_himeno ? 4 : 16;
  const int tile = words.size() > 6 ? std::atoi(words[6].c_str()) : is_himeno ? 64 : 4096;
  return is_himeno ? himeno_rates(words[1], repeats, words[4], levels, tile)
                   : fdtd2d_rates(std::atol(words[1].c_str()), repeats, words[4], levels, tile);
}
