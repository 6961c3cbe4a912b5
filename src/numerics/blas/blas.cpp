#include "blas/blas.hpp"

#include <dlfcn.h>

namespace kumihimo::blas {
namespace {

constexpr const char* names[] = {"libopenblas.so.0", "libopenblas.so", "libblis.so.4",   "libblis.so.3", "libblis.so",
                                 "libblis-mt.so.4",  "libmkl_rt.so.3", "libmkl_rt.so.2", "libmkl_rt.so"};

int narrow(std::int64_t value) { return static_cast<int>(value); }

} // namespace

Result<std::shared_ptr<const Blas>> Blas::open(const std::string& path, const std::string& option) {
  void* library = nullptr;
  std::string name = path;
  if (path.empty()) {
    for (const char* const each : names)
      if (!library && (library = dlopen(each, RTLD_NOW | RTLD_LOCAL))) name = each;
    if (!library)
      return not_applicable("DGEMM needs OpenBLAS, BLIS or MKL, and none of them is here", {},
                            "install one (Debian: libopenblas0), or name its library with " + option);
  } else if (library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL); !library) {
    const std::string reason = dlerror();
    return wrong_value(option + " must name a library that can be loaded", reason, "name another");
  }
  std::shared_ptr<Blas> opened(new Blas(library, name));
  (void)TRY(opened->find("name another with " + option));
  return std::shared_ptr<const Blas>(std::move(opened));
}

template <class Function>
Function Blas::symbol(const char* name) const {
  return reinterpret_cast<Function>(dlsym(library_, name));
}

Status Blas::find(const std::string& advice) {
  dgemm_ = symbol<Dgemm>("dgemm_");
  dtrsm_ = symbol<Dtrsm>("dtrsm_");
  if (!dgemm_ || !dtrsm_)
    return wrong_value(std::string("the BLAS library must have ") + (dgemm_ ? "dtrsm_" : "dgemm_"), name_, advice);
  if (const auto config = symbol<char* (*)()>("openblas_get_config")) {
    const std::string text = config();
    if (text.find("USE64BITINT") != std::string::npos)
      return wrong_value("the BLAS library must have integers of 32 bits", name_, advice);
    name_ += " (" + text.substr(0, text.find_last_not_of(' ') + 1) + ")";
  }
  openblas_ = symbol<void (*)(int)>("openblas_set_num_threads");
  blis_ = symbol<void (*)(long)>("bli_thread_set_num_threads");
  mkl_ = symbol<void (*)(int)>("MKL_Set_Num_Threads");
  return Nothing{};
}

void Blas::set_threads(int threads) const {
  if (openblas_) openblas_(threads);
  if (blis_) blis_(threads);
  if (mkl_) mkl_(threads);
}

void Blas::multiply(std::int64_t m, std::int64_t n, std::int64_t k, double alpha, const double* a, std::int64_t lda,
                    const double* b, std::int64_t ldb, double beta, double* c, std::int64_t ldc) const {
  if (m < 1 || n < 1 || k < 1) return;
  const int sizes[] = {narrow(m), narrow(n), narrow(k)}, leading[] = {narrow(lda), narrow(ldb), narrow(ldc)};
  dgemm_("N", "N", &sizes[0], &sizes[1], &sizes[2], &alpha, a, &leading[0], b, &leading[1], &beta, c, &leading[2]);
}

void Blas::solve_unit_lower(std::int64_t m, std::int64_t n, const double* l, std::int64_t ldl, double* b,
                            std::int64_t ldb) const {
  solve("L", "L", "U", m, n, l, ldl, b, ldb);
}

void Blas::solve_upper(std::int64_t m, std::int64_t n, const double* u, std::int64_t ldu, double* b,
                       std::int64_t ldb) const {
  solve("L", "U", "N", m, n, u, ldu, b, ldb);
}

void Blas::solve_upper_right(std::int64_t m, std::int64_t n, const double* u, std::int64_t ldu, double* b,
                             std::int64_t ldb) const {
  solve("R", "U", "N", m, n, u, ldu, b, ldb);
}

void Blas::solve(const char* side, const char* uplo, const char* diagonal, std::int64_t m, std::int64_t n,
                 const double* t, std::int64_t ldt, double* b, std::int64_t ldb) const {
  if (m < 1 || n < 1) return;
  const int sizes[] = {narrow(m), narrow(n)}, leading[] = {narrow(ldt), narrow(ldb)};
  const double one = 1;
  dtrsm_(side, uplo, "N", diagonal, &sizes[0], &sizes[1], &one, t, &leading[0], b, &leading[1]);
}

} // namespace kumihimo::blas
