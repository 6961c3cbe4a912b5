// A BLAS library that is opened at run time: OpenBLAS, BLIS, MKL or another with integers of 32 bits. Matrices are
// stored by columns.
#pragma once

#include "base/result.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace kumihimo::blas {

class Blas {
 public:
  // `path`: a library; empty: the first of OpenBLAS, BLIS and MKL that the loader finds. Errors: there is none; it has
  // no dgemm_ or dtrsm_ with integers of 32 bits. Their advice names the user's `option`.
  static Result<std::shared_ptr<const Blas>> open(const std::string& path, const std::string& option);

  const std::string& name() const { return name_; }                // and its configuration if it tells it
  bool sets_threads() const { return openblas_ || blis_ || mkl_; } // whether set_threads() has an effect
  void set_threads(int threads) const;                             // of all calls of this process from now on

  // C = alpha A B + beta C: A is m x k, B is k x n.
  void multiply(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const double* a, std::int64_t lda,
                const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc) const;
  // B = L^-1 B: L is m x m, lower triangular with a diagonal of ones, B is m x n.
  void solve_unit_lower(std::int64_t m, std::int64_t n, const double* l, std::int64_t ldl, double* b,
                        std::int64_t ldb) const;
  // B = U^-1 B: U is m x m, upper triangular, B is m x n.
  void solve_upper(std::int64_t m, std::int64_t n, const double* u, std::int64_t ldu, double* b,
                   std::int64_t ldb) const;
  // B = B U^-1: U is n x n, upper triangular, B is m x n.
  void solve_upper_right(std::int64_t m, std::int64_t n, const double* u, std::int64_t ldu, double* b,
                         std::int64_t ldb) const;

 private:
  using Dgemm = void (*)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                         const int*, const double*, const int*, const double*, double*, const int*);
  using Dtrsm = void (*)(const char*, const char*, const char*, const char*, const int*, const int*, const double*,
                         const double*, const int*, double*, const int*);

  Blas(void* library, std::string name) : library_(library), name_(std::move(name)) {}
  Status find(const std::string& advice);
  template <class Function>
  Function symbol(const char* name) const;
  void solve(const char* side, const char* uplo, const char* diagonal, std::int64_t m, std::int64_t n, const double* t,
             std::int64_t ldt, double* b, std::int64_t ldb) const;

  void* library_; // stays loaded: its threads may still run
  std::string name_;
  Dgemm dgemm_ = nullptr;
  Dtrsm dtrsm_ = nullptr;
  void (*openblas_)(int) = nullptr;
  void (*blis_)(long) = nullptr;
  void (*mkl_)(int) = nullptr;
};

} // namespace kumihimo::blas
