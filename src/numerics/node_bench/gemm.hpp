// DGEMM of a BLAS library (src/numerics/blas): its double-precision peak on a matrix product.
#pragma once

#include "base/result.hpp"

#include <memory>
#include <string>
#include <vector>

namespace kumihimo::node_bench {

class Gemm {
 public:
  // Errors: those of blas::Blas::open().
  static Result<std::unique_ptr<Gemm>> open(const std::string& path);
  virtual ~Gemm() = default;

  virtual std::string name() const = 0;  // the library, and its configuration if it tells it
  virtual bool sets_threads() const = 0; // whether it can be told how many threads to use
  // Seconds of C = A B of n x n matrices, a sample a round, after one that is not counted. C is checked with a random
  // vector v: C v = A (B v) within the error bound of both. Errors: n, threads, rounds; no memory; a wrong result.
  virtual Result<std::vector<double>> measure(int n, int threads, int rounds) = 0;
};

} // namespace kumihimo::node_bench
