#include "fem_cube/check.hpp"

#include "fem/assemble.hpp"
#include "fem/error_bound.hpp"
#include "fem/golden.hpp"
#include "fem/product.hpp"
#include "fem_cube/golden.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>
#include <numeric>

namespace kumihimo::fem_cube {

using application::Runtime;
using nlohmann::json;

namespace {

double square_sum(std::span<const double> values) {
  return std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
}

using AddElements = void (*)(const fem::Mesh&, const fem::Materials&, std::span<const std::int32_t>, const double*,
                             double*);
// Over all elements. Threads share those of a colour, which have no node in common.
std::vector<double> over_elements(const FemProblem& problem, AddElements add, std::span<const double> x) {
  std::vector<double> y(static_cast<std::size_t>(problem.owned_displacements()));
  fem::for_each_colour(problem.mesh, [&](int, threads::IndexRange mine) {
    add(problem.mesh, problem.materials,
        {problem.mesh.by_colour.data() + mine.begin, static_cast<std::size_t>(mine.size())}, x.data(), y.data());
  });
  return y;
}

// Of displacements `x` of all nodes: |forces - A x| over the owned free rows and |d (u - x)| over those of prescribed
// displacements u, squared; and the square of what both products may be off.
struct Squares {
  double residual = 0, rounding = 0;
};
Squares residual_squares(const FemProblem& problem, std::span<const double> x) {
  const fem::Constraints& constraints = problem.load_case.constraints;
  const std::vector<double> product = over_elements(problem, &golden::add_product, x),
                            rounding = over_elements(problem, &golden::add_rounding, x),
                            blocks = fem::diagonal_blocks(problem.mesh, problem.materials);
  Squares squares;
  for (std::size_t i = 0; i < product.size(); ++i) {
    const double diagonal = blocks[i / 3 * 9 + i % 3 * 4];
    const double r =
        constraints.is_fixed[i] ? diagonal * (constraints.values[i] - x[i]) : problem.load_case.forces[i] - product[i];
    squares.residual += r * r;
    squares.rounding += rounding[i] * rounding[i];
  }
  return squares;
}

std::vector<double> exact_displacements(const FemProblem& problem) {
  std::vector<double> found;
  for (std::int64_t n = 0; n < problem.mesh.node_count(); ++n) {
    const fem::Vector3 value = problem.load_case.exact(problem.mesh.node(n));
    found.insert(found.end(), value.begin(), value.end());
  }
  return found;
}

} // namespace

Result<json> check_solution(const FemProblem& problem, std::span<const double> load, std::span<const double> x,
                            double tolerance, Runtime& runtime) {
  std::vector<double> all(x.begin(), x.end());
  all.resize(static_cast<std::size_t>(problem.displacements()));
  if (Status s = problem.halo->run(all.data()); !s) return s.error();
  const Squares of_x = residual_squares(problem, all);
  const bool knows = problem.load_case.exact != nullptr;
  const std::vector<double> exact = knows ? exact_displacements(problem) : std::vector<double>();
  const Squares of_exact = knows ? residual_squares(problem, exact) : Squares{};
  double difference = 0, size = 0, energy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    energy += x[i] * load[i];
    if (!knows) continue;
    difference += (x[i] - exact[i]) * (x[i] - exact[i]);
    size += exact[i] * exact[i];
  }
  const std::vector<double> sums = runtime.processes().total(
      {square_sum(load), of_x.residual, of_x.rounding, of_exact.residual, of_exact.rounding, difference, size, energy});
  const double norm_b = sums[0] > 0 ? std::sqrt(sums[0]) : 1, error = std::sqrt(sums[1]) / norm_b,
               bound = tolerance + std::sqrt(sums[2]) / norm_b;
  json checked = {{"what", "relative residual by the golden copy's product"},
                  {"right", error <= bound},
                  {"error", error},
                  {"bound", bound}};
  if (!knows) return checked;
  checked["discretisation_error"] = std::sqrt(sums[5] / sums[6]);
  if (problem.load_case.exact_energy > 0) {
    checked["energy_error"] = (problem.load_case.exact_energy - sums[7]) / problem.load_case.exact_energy;
    return checked;
  }
  const double residual = std::sqrt(sums[3]) / norm_b, allowed = std::sqrt(sums[4]) / norm_b;
  checked["patch_residual"] = residual;
  checked["patch_bound"] = allowed;
  checked["right"] = error <= bound && residual <= allowed;
  return checked;
}

Result<json> check_matrix(const FemProblem& problem, const fem::BlockMatrix& matrix, Runtime& runtime) {
  Result<fem::BlockMatrix> golden = fem::make_matrix(problem.mesh);
  if (Status s = runtime.agree_on(golden); !s) return s.error();
  fem::assemble_golden(problem.mesh, problem.materials, *golden);
  const double share =
      fem::share_of_bound(matrix, *golden, fem::assembly_error_bound(problem.mesh, problem.materials, *golden));
  // Not a number is largest, which a comparison does not find.
  const double found = runtime.processes().largest({std::isnan(share) ? HUGE_VAL : share})[0];
  return json{{"what", "largest error of an entry as a share of its bound"},
              {"right", found <= 1},
              {"error", std::min(found, std::numeric_limits<double>::max())},
              {"bound", 1}};
}

} // namespace kumihimo::fem_cube
