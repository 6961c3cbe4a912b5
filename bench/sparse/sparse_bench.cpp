// Products, sweeps and whole solves of every variant of the sparse layer, beside the STREAM triad of the same rounds.
//   sparse_bench [--size 128] [--threads 1,2] [--variants all] [--colours 0] [--rounds 15] [--no-solve] [--no-golden]
//     [--processor-time]
// Medians over rounds, and in brackets the best round over the best triad; --colours 0: each variant's default.
// Effective bytes count each nonzero, without padding, and each vector once; "padding" is the rest of the arrays.
// --processor-time: seconds on a processor, divided by the threads, instead of seconds by the clock. On a machine that
// is shared with others; set OMP_WAIT_POLICY=passive, so that threads that wait take no time.
#include "base/text_parsing.hpp"
#include "conjugate_gradients.hpp"
#include "measure/clock.hpp"
#include "sparse/golden.hpp"
#include "sparse/poisson.hpp"
#include "sparse/transformed_cg.hpp"
#include "threads/team.hpp"

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

using namespace kumihimo;
using namespace kumihimo::sparse;

namespace {

struct Options {
  int size = 128, colours = 0, rounds = 15;
  std::vector<int> threads = {1, 2};
  std::string variants = "all";
  bool solve = true, golden = true;
};

bool by_processor_time = false;

double now() {
  if (!by_processor_time) return static_cast<double>(measure::now_ns()) * 1e-9;
  timespec used{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
  return (static_cast<double>(used.tv_sec) + static_cast<double>(used.tv_nsec) * 1e-9) / threads::count();
}

double seconds(auto&& work) {
  const double start = now();
  work();
  return now() - start;
}

double median(std::vector<double> of) {
  std::nth_element(of.begin(), of.begin() + static_cast<std::ptrdiff_t>(of.size() / 2), of.end());
  return of[of.size() / 2];
}

double best(const std::vector<double>& of) { return *std::max_element(of.begin(), of.end()); }

// a = b + s c over three arrays of 2^24 doubles, in GB/s.
class Triad {
 public:
  double run() {
    double *const a = a_.data(), *const b = b_.data(), *const c = c_.data();
    const double t = seconds([&] {
#pragma omp parallel for schedule(static) num_threads(threads::count())
      for (std::int64_t i = 0; i < length; ++i) a[i] = b[i] + 3.0 * c[i];
    });
    return static_cast<double>(3 * 8 * length) / t * 1e-9;
  }

 private:
  static constexpr std::int64_t length = std::int64_t{1} << 24;
  threads::ThreadedArray<double> a_ = *threads::ThreadedArray<double>::zeros(length),
                                 b_ = *threads::ThreadedArray<double>::zeros(length),
                                 c_ = *threads::ThreadedArray<double>::zeros(length);
};

double triad_median(Triad& triad, int rounds) {
  std::vector<double> rates;
  for (int i = 0; i < rounds; ++i) rates.push_back(triad.run());
  return median(rates);
}

void measure_variant(const CrsMatrix& matrix, const SparseVariant& variant, const Options& options, Triad& triad) {
  PrepareOptions how;
  if (options.colours > 0) how.parameters["colours"] = options.colours;
  const Result<PreparedSystem> made = prepare(matrix, variant, how);
  if (!made) {
    std::printf("%-20.*s %s\n", static_cast<int>(variant.description.name.size()), variant.description.name.data(),
                made.error().sentence().c_str());
    return;
  }
  const PreparedSystem& system = *made;
  const std::int64_t n = system.rows();
  threads::ThreadedArray<double> b = *threads::ThreadedArray<double>::zeros(n),
                                 x = *threads::ThreadedArray<double>::zeros(n),
                                 y = *threads::ThreadedArray<double>::zeros(n),
                                 w = *threads::ThreadedArray<double>::zeros(n);
  std::fill(b.begin(), b.end(), 1.0);
  for (const int team : options.threads) {
    if (!threads::use(team)) continue;
    std::vector<double> limit, product, sweeps, transformed;
    for (int round = 0; round < options.rounds; ++round) {
      limit.push_back(triad.run());
      product.push_back(static_cast<double>(system.bytes_of_product()) * 1e-9 /
                        seconds([&] { system.multiply(b.data(), y.data()); }));
      sweeps.push_back(static_cast<double>(system.bytes_of_preconditioner()) * 1e-9 /
                       seconds([&] { system.precondition(b.data(), y.data()); }));
      if (!system.is_transformed()) continue;
      transformed.push_back(static_cast<double>(system.bytes_of_transformed_iteration()) * 1e-9 / seconds([&] {
                              system.search_direction(0.5, b.data(), x.data(), y.data());
                              system.curvature(x.data(), y.data(), w.data());
                              system.advance(1e-300, y.data(), w.data(), b.data(), x.data());
                            }));
    }
    const auto print = [&](const char* what, const std::vector<double>& rates) {
      if (!rates.empty())
        std::printf("  %s %5.1f GB/s %3.0f %% (%3.0f %%)", what, median(rates), 100 * median(rates) / median(limit),
                    100 * best(rates) / best(limit));
    };
    std::printf("%-20.*s m=%-3d T=%d  padding %.1f MB  triad %5.1f (%5.1f)",
                static_cast<int>(variant.description.name.size()), variant.description.name.data(), system.colours(),
                team, static_cast<double>(system.bytes_of_padding()) * 1e-6, median(limit), best(limit));
    print("product", product);
    print("sweeps", sweeps);
    print("iteration", transformed);
    if (options.solve) {
      std::fill(b.begin(), b.end(), 1.0);
      std::fill(x.begin(), x.end(), 0.0);
      CgResult done;
      const double before = triad_median(triad, 5);
      const double t = seconds([&] {
        if (system.is_transformed()) {
          const Result<TransformedSolution> solved = solve_transformed(system, b.data(), x.data(), 1e-8, 3000);
          if (solved) done = {solved->iterations, solved->relative_residual};
        } else
          done = conjugate_gradients(system, b.data(), x.data(), 1e-8, 3000);
      });
      const double around = (before + triad_median(triad, 5)) / 2;
      system.multiply(x.data(), y.data());
      double rr = 0, bb = 0;
      for (std::int64_t i = 0; i < n; ++i) rr += (b[i] - y[i]) * (b[i] - y[i]), bb += b[i] * b[i];
      std::printf("  ICCG %4d it %6.2f s %5.2f ms/it  |b-Ax|/|b| %.1e  (triad %4.1f; at 46.6: %5.2f s)  set-up %.1f s",
                  done.iterations, t, 1e3 * t / std::max(1, done.iterations), std::sqrt(rr / bb), around,
                  t * around / 46.6, system.set_up_seconds());
    }
    std::printf("\n");
    std::fflush(stdout);
  }
  (void)threads::use(options.threads.back());
}

void measure_golden(const CrsMatrix& matrix, Triad& triad) {
  (void)threads::use(1);
  std::vector<double> b(static_cast<std::size_t>(matrix.rows), 1.0), x(b.size(), 0.0);
  const double limit = triad_median(triad, 5);
  Result<golden::GoldenSolved> solved = golden::GoldenSolved{};
  const double t = seconds([&] { solved = golden::solve(matrix, b, x, 1e-8, 3000); });
  if (!solved) return;
  std::printf(
      "golden copy (CRS, natural order, 1 thread): %d iterations, %.2f s, %.2f ms/it (triad of 1 thread %.1f)\n",
      solved->iterations, t, 1e3 * t / solved->iterations, limit);
  std::fflush(stdout);
}

Options read(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string name = argv[i];
    if (name == "--no-solve")
      options.solve = false;
    else if (name == "--no-golden")
      options.golden = false;
    else if (name == "--processor-time")
      by_processor_time = true;
    else if (i + 1 < argc) {
      const std::string value = argv[++i];
      if (name == "--size") options.size = std::stoi(value);
      if (name == "--colours") options.colours = std::stoi(value);
      if (name == "--rounds") options.rounds = std::stoi(value);
      if (name == "--variants") options.variants = value;
      if (name == "--threads") {
        options.threads.clear();
        for (const std::string_view team : words_of(value, ","))
          options.threads.push_back(std::stoi(std::string(team)));
      }
    }
  }
  return options;
}

} // namespace

int main(int argc, char** argv) {
  const Options options = read(argc, argv);
  if (const Status set = threads::use(*std::max_element(options.threads.begin(), options.threads.end())); !set) {
    std::fprintf(stderr, "%s\n", set.error().sentence().c_str());
    return 1;
  }
  Triad triad;
  const Result<CrsMatrix> matrix = poisson_matrix({options.size, options.size, options.size});
  if (!matrix) {
    std::fprintf(stderr, "%s\n", matrix.error().sentence().c_str());
    return 1;
  }
  if (options.golden) measure_golden(*matrix, triad);
  (void)threads::use(*std::max_element(options.threads.begin(), options.threads.end()));
  for (const SparseVariant& variant : variants())
    if (options.variants == "all" ||
        ("," + options.variants + ",").find("," + std::string(variant.description.name) + ",") != std::string::npos)
      measure_variant(*matrix, variant, options, triad);
}
