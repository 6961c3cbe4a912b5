#include "node_bench/gemm.hpp"

#include "measure/clock.hpp"
#include "threads/array.hpp"

#include <dlfcn.h>

#include <cfloat>
#include <cmath>
#include <cstdint>

namespace kumihimo::node_bench {
namespace {

constexpr const char* names[] = {"libopenblas.so.0", "libopenblas.so",  "libblis.so.4",   "libblis.so.3",
                                 "libblis.so",       "libblis-mt.so.4", "libmkl_rt.so.2", "libmkl_rt.so"};

using Dgemm = void (*)(const char*, const char*, const int*, const int*, const int*, const double*, const double*,
                       const int*, const double*, const int*, const double*, double*, const int*);

struct Matrices {
  threads::ThreadedArray<double> a, b, c;
};

// y = M x, and of the absolute values; by columns.
void multiply(const double* m, const double* x, double* y, int n, bool absolute) {
  for (int i = 0; i < n; ++i) y[i] = 0;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) {
      const double value = m[static_cast<std::int64_t>(j) * n + i];
      y[i] += (absolute ? std::fabs(value) : value) * x[j];
    }
}

// Freivalds, 1977. Each of both ways rounds at most 2 n times.
Status check(const Matrices& m, int n) {
  const std::size_t rows = static_cast<std::size_t>(n);
  std::vector<double> v(rows), bv(rows), abv(rows), cv(rows), magnitude(rows), sum(rows);
  for (std::size_t i = 0; i < rows; ++i) v[i] = 0.5 + static_cast<double>((i * 7919) % 1000) / 1000;
  multiply(m.b.data(), v.data(), bv.data(), n, false);
  multiply(m.a.data(), bv.data(), abv.data(), n, false);
  multiply(m.c.data(), v.data(), cv.data(), n, false);
  multiply(m.b.data(), v.data(), magnitude.data(), n, true);
  multiply(m.a.data(), magnitude.data(), sum.data(), n, true);
  for (std::size_t i = 0; i < rows; ++i)
    if (!(std::fabs(cv[i] - abv[i]) <= 4.0 * n * DBL_EPSILON / 2 * sum[i] * 1.01))
      return failed("the BLAS library gave a wrong matrix product", "row " + std::to_string(i));
  return Nothing{};
}

class Opened final : public Gemm {
 public:
  Opened(void* library, std::string name) : library_(library), name_(std::move(name)) {}
  ~Opened() override = default; // stays loaded: its threads may still run

  Status find() {
    dgemm_ = symbol<Dgemm>("dgemm_");
    if (!dgemm_) return wrong_value("the BLAS library must have dgemm_", name_, "name another with --blas");
    if (const auto config = symbol<char* (*)()>("openblas_get_config")) {
      const std::string text = config();
      if (text.find("USE64BITINT") != std::string::npos)
        return wrong_value("the BLAS library must have integers of 32 bits", name_, "name another with --blas");
      name_ += " (" + text.substr(0, text.find_last_not_of(' ') + 1) + ")";
    }
    openblas_ = symbol<void (*)(int)>("openblas_set_num_threads");
    blis_ = symbol<void (*)(long)>("bli_thread_set_num_threads");
    mkl_ = symbol<void (*)(int)>("MKL_Set_Num_Threads");
    return Nothing{};
  }

  std::string name() const override { return name_; }
  bool sets_threads() const override { return openblas_ || blis_ || mkl_; }

  Result<std::vector<double>> measure(int n, int threads, int rounds) override {
    if (n < 1 || n > 46340) return wrong_value("the matrices must have 1 to 46340 rows", n);
    if (threads < 1) return wrong_value("the number of threads must be at least 1", threads);
    if (rounds < 1) return wrong_value("there must be at least 1 round", rounds);
    if (openblas_) openblas_(threads);
    if (blis_) blis_(threads);
    if (mkl_) mkl_(threads);
    const std::int64_t size = static_cast<std::int64_t>(n) * n;
    Matrices m;
    m.a = TRY(threads::ThreadedArray<double>::zeros(size));
    m.b = TRY(threads::ThreadedArray<double>::zeros(size));
    m.c = TRY(threads::ThreadedArray<double>::zeros(size));
    std::uint64_t state = 1;
    for (std::int64_t i = 0; i < size; ++i) {
      m.a[i] = next(state);
      m.b[i] = next(state);
    }
    std::vector<double> samples;
    for (int round = -1; round < rounds; ++round) {
      const double one = 1, zero = 0;
      const std::int64_t start = measure::now_ns();
      dgemm_("N", "N", &n, &n, &n, &one, m.a.data(), &n, m.b.data(), &n, &zero, m.c.data(), &n);
      if (round >= 0) samples.push_back(measure::seconds_since(start));
    }
    (void)TRY(check(m, n));
    return samples;
  }

 private:
  template <class Function>
  Function symbol(const char* name) const {
    return reinterpret_cast<Function>(dlsym(library_, name));
  }
  static double next(std::uint64_t& state) { // from -1 to 1
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
  }

  void* library_;
  std::string name_;
  Dgemm dgemm_ = nullptr;
  void (*openblas_)(int) = nullptr;
  void (*blis_)(long) = nullptr;
  void (*mkl_)(int) = nullptr;
};

} // namespace

Result<std::unique_ptr<Gemm>> Gemm::open(const std::string& path) {
  void* library = nullptr;
  std::string name = path, reason;
  if (path.empty()) {
    for (const char* const each : names)
      if (!library && (library = dlopen(each, RTLD_NOW | RTLD_LOCAL))) name = each;
    if (!library)
      return not_applicable("DGEMM needs OpenBLAS, BLIS or MKL, and none of them is here", {},
                            "install one (Debian: libopenblas0), or name its library with --blas");
  } else {
    library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library) reason = dlerror();
    if (!library) return wrong_value("--blas must name a library that can be loaded", reason, "name another");
  }
  auto opened = std::make_unique<Opened>(library, name);
  (void)TRY(opened->find());
  return std::unique_ptr<Gemm>(std::move(opened));
}

} // namespace kumihimo::node_bench
