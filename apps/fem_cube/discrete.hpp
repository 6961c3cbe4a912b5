// The discrete system A x = b of a rank's rows by a variant: assembled in a matrix, or multiplied element by element.
// Prescribed displacements are eliminated.
#pragma once

#include "application/kernel_times.hpp"
#include "application/runtime.hpp"
#include "fem/matrix.hpp"
#include "fem_cube/problem.hpp"
#include "fem_cube/variant.hpp"

#include <memory>
#include <vector>

namespace kumihimo::fem_cube {

class Discrete {
 public:
  virtual ~Discrete() = default;
  // y = A x of the owned rows; the ghosts of x are up to date.
  virtual Status multiply(const double* x, double* y) = 0;
  virtual application::KernelWork work_of_product() const = 0; // of one call
  virtual const fem::BlockMatrix* matrix() const = 0;          // null: there is none
  virtual std::vector<double> diagonal_blocks() const = 0;     // 9 of each owned node

  std::vector<double> load; // b, 3 of each owned node
};

// The time of an assembly: the median of several, and what one moves and computes. All zero without a matrix.
struct AssemblyTime {
  double seconds = 0;
  application::KernelWork work;
};

struct Discretised {
  std::unique_ptr<Discrete> discrete;
  AssemblyTime assembly;
};
// Refers to `problem`. Collective. Errors: those of the variant and of memory; all ranks get the same.
Result<Discretised> discretise(const FemProblem& problem, const FemVariant& variant, const ParameterValues& parameters,
                               std::int64_t assemblies, application::Runtime& runtime);

// The matrix before elimination, assembled several times. Collective.
struct Assembled {
  fem::BlockMatrix matrix;
  AssemblyTime time;
};
Result<Assembled> assemble(const FemProblem& problem, const FemVariant& variant, const ParameterValues& parameters,
                           std::int64_t assemblies, application::Runtime& runtime);

} // namespace kumihimo::fem_cube
