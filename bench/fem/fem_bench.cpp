// Finite elements of a distorted cube: fem_bench [nodes an axis = 64] [rounds = 9] [threads = 1 2].
//
// All variants and both limits (peak of fused operations, STREAM's triad) take turns within each round, so a
// disturbance meets all of them. Medians; the ratio to the original is the median of the rounds' ratios. An assembly is
// timed with its values set to zero first, and with all searches; the structure of the matrix is known. Flops are each
// variant's own (src/numerics/fem/flops.hpp). Bytes are the least a kernel moves.
#include "fem/preconditioners.hpp"
#include "fem/product.hpp"
#include "fem/variants.hpp"
#include "machine_limits.hpp"
#include "measure/clock.hpp"
#include "measure/statistics.hpp"
#include "threads/team.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace kumihimo::bench {
namespace {

struct Kernel {
  std::string name;
  std::function<Status()> run;
  double elements = 0, flops = 0, bytes = 0; // of a run; 0: not counted
  std::vector<double> seconds = {};
};

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return measure::median(values);
}

struct Problem {
  fem::Mesh mesh;
  fem::Materials materials;
  fem::BlockMatrix matrix;
};

void add_assemblies(Problem& problem, std::vector<Kernel>& kernels) {
  const auto elements = static_cast<double>(problem.mesh.element_count());
  for (const fem::AssemblyVariant& variant : fem::assembly_variants()) {
    if (!variant.runs_here || variant.name == "golden") continue;
    std::vector<ParameterValues> choices;
    if (variant.parameters.empty())
      choices.push_back({});
    else
      for (const std::int64_t block : {1, 2, 4, 8, 16, 32, 64, 128})
        choices.push_back(with_defaults(variant.parameters, {{"block", block}}));
    if (variant.parameters.size() > 1)
      for (const std::int64_t layers : {0, 1, 2, 8})
        choices.push_back(with_defaults(variant.parameters, {{"layers", layers}}));
    for (const ParameterValues& values : choices) {
      std::string name(variant.name);
      for (const auto& [parameter, value] : values) name += fmt::format(" {}={}", parameter, value);
      kernels.push_back({name,
                         [&problem, &variant, values] {
                           return fem::assemble(variant, problem.mesh, problem.materials, problem.matrix, values);
                         },
                         elements, elements * variant.flops});
    }
  }
}

// Products and preconditioners of a matrix of its own, with a face fixed.
Status add_solver_kernels(Problem& problem, std::vector<double>& x, std::vector<double>& y,
                          std::vector<Kernel>& kernels) {
  const auto size = static_cast<std::size_t>(3 * problem.mesh.owned);
  const fem::Constraints constraints = fem::fixed_face(problem.mesh);
  x.assign(size, 0);
  for (std::size_t i = 0; i < size; ++i) x[i] = static_cast<double>(i % 17) - 8;
  y.assign(size, 0);
  std::vector<double> load(size), diagonal;
  if (Status done = fem::assemble(fem::assembly_variants()[1], problem.mesh, problem.materials, problem.matrix); !done)
    return done;
  if (Status done = fem::eliminate(constraints, problem.matrix, load); !done) return done;
  const std::vector<double> blocks = fem::diagonal_blocks(problem.matrix);
  for (std::size_t i = 0; i < size; ++i) diagonal.push_back(blocks[i / 3 * 9 + 4 * (i % 3)]);

  const double entries = 9.0 * problem.matrix.row_begin[problem.matrix.owned];
  kernels.push_back({"product", [&] { return fem::multiply(problem.matrix, x.data(), y.data()), Status(Nothing{}); }, 0,
                     2 * entries, fem::product_bytes(problem.matrix)});
  kernels.push_back({"product, golden copy",
                     [&] { return fem::multiply_golden(problem.matrix, x.data(), y.data()), Status(Nothing{}); }, 0,
                     2 * entries, fem::product_bytes(problem.matrix)});
  for (const fem::OperatorVariant& variant : fem::operator_variants()) {
    if (!variant.runs_here) continue;
    auto made = TRY(fem::MatrixFreeProduct::make(variant, problem.mesh, problem.materials, constraints, diagonal));
    auto product = std::make_shared<fem::MatrixFreeProduct>(std::move(made));
    const auto elements = static_cast<double>(problem.mesh.element_count());
    kernels.push_back({std::string(variant.name), [&, product] { return product->multiply(x.data(), y.data()); },
                       elements, elements * variant.flops});
  }
  auto scaling = std::make_shared<fem::BlockDiagonal>(TRY(fem::BlockDiagonal::make(blocks)));
  kernels.push_back({"block diagonal", [&, scaling] { return scaling->apply(x.data(), y.data()), Status(Nothing{}); },
                     0, 5.0 * static_cast<double>(size), (72.0 + 48) / 3 * static_cast<double>(size)});
  auto sweeps = std::make_shared<fem::GaussSeidel>(TRY(fem::GaussSeidel::make(problem.matrix)));
  kernels.push_back({fmt::format("Gauss-Seidel, {} colours", sweeps->colour_count()),
                     [&, sweeps] { return sweeps->apply(x.data(), y.data()), Status(Nothing{}); }, 0, 2 * entries,
                     sweeps->bytes()});
  for (const int overlap : {0, 1}) {
    auto schwarz = std::make_shared<fem::AdditiveSchwarz>(
        TRY(fem::AdditiveSchwarz::make(problem.matrix, std::min<std::int64_t>(8, problem.matrix.owned), overlap)));
    kernels.push_back({fmt::format("Schwarz, 8 parts, overlap {}", overlap),
                       [&, schwarz] { return schwarz->apply(x.data(), y.data()), Status(Nothing{}); }, 0, 0,
                       schwarz->bytes()});
  }
  return Nothing{};
}

Status measure_on(int team, std::int64_t nodes, int rounds) {
  if (Status used = threads::use(team); !used) return used;
  fmt::print("\n{}; {}^3 nodes, {} rounds\n", threads::bind(), nodes, rounds);
  Problem assembled, solved;
  for (Problem* problem : {&assembled, &solved}) {
    const fem::NodeGrid grid = TRY(fem::whole_cube(nodes));
    problem->mesh = TRY(fem::make_mesh(grid, 0.2));
    problem->materials = TRY(fem::varied_materials(problem->mesh, 1, 0.3, 1));
    problem->matrix = TRY(fem::make_matrix(problem->mesh));
  }
  std::vector<Kernel> kernels;
  std::vector<double> x, y, peaks, triads;
  add_assemblies(assembled, kernels);
  if (Status done = add_solver_kernels(solved, x, y, kernels); !done) return done;
  Triad triad = TRY(Triad::make(1L << 24));
  triad.bytes_per_second();
  for (int round = 0; round <= rounds; ++round) { // the first one warms up
    const double peak = peak_flops(), bandwidth = triad.bytes_per_second();
    if (round) {
      peaks.push_back(peak);
      triads.push_back(bandwidth);
    }
    for (Kernel& kernel : kernels) {
      const std::int64_t start = measure::now_ns();
      if (Status done = kernel.run(); !done) return done;
      if (round) kernel.seconds.push_back(measure::seconds_since(start));
    }
  }
  const double peak = median_of(peaks), bandwidth = median_of(triads);
  fmt::print("peak {:.1f} GFLOPS, triad {:.1f} GB/s\n", peak * 1e-9, bandwidth * 1e-9);
  fmt::print("{:<32} {:>9} {:>12} {:>8} {:>8} {:>8} {:>8} {:>8}\n", "kernel", "ms", "Melements/s", "original", "GFLOPS",
             "% peak", "GB/s", "% triad");
  for (const Kernel& kernel : kernels) {
    const double seconds = median_of(kernel.seconds);
    std::vector<double> ratios;
    for (std::size_t i = 0; i < kernel.seconds.size(); ++i) ratios.push_back(kernels[0].seconds[i] / kernel.seconds[i]);
    const auto shown = [](double value, bool counted) { return counted ? fmt::format("{:.2f}", value) : "-"; };
    const bool assembly = kernel.elements > 0 && !kernel.name.starts_with("matrix_free");
    fmt::print("{:<32} {:>9.2f} {:>12} {:>8} {:>8} {:>8} {:>8} {:>8}\n", kernel.name, seconds * 1e3,
               shown(kernel.elements / seconds * 1e-6, kernel.elements > 0), shown(median_of(ratios), assembly),
               shown(kernel.flops / seconds * 1e-9, kernel.flops > 0),
               shown(100 * kernel.flops / seconds / peak, kernel.flops > 0),
               shown(kernel.bytes / seconds * 1e-9, kernel.bytes > 0),
               shown(100 * kernel.bytes / seconds / bandwidth, kernel.bytes > 0));
  }
  return Nothing{};
}

} // namespace
} // namespace kumihimo::bench

int main(int count, char** arguments) {
  const std::int64_t nodes = count > 1 ? std::atoll(arguments[1]) : 64;
  const int rounds = std::max(count > 2 ? std::atoi(arguments[2]) : 9, 1);
  std::vector<int> teams;
  for (int i = 3; i < count; ++i) teams.push_back(std::atoi(arguments[i]));
  if (teams.empty()) teams = {1, 2};
  for (const int team : teams) {
    if (const kumihimo::Status done = kumihimo::bench::measure_on(team, nodes, rounds); !done) {
      fmt::print(stderr, "error: {}\n", done.error().sentence());
      return 1;
    }
  }
}
