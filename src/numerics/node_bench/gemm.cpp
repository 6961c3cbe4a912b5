#include "node_bench/gemm.hpp"

#include "blas/blas.hpp"
#include "measure/clock.hpp"
#include "threads/array.hpp"

#include <cfloat>
#include <cmath>
#include <cstdint>

namespace kumihimo::node_bench {
namespace {

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
  explicit Opened(std::shared_ptr<const blas::Blas> blas) : blas_(std::move(blas)) {}

  std::string name() const override { return blas_->name(); }
  bool sets_threads() const override { return blas_->sets_threads(); }

  Result<std::vector<double>> measure(int n, int threads, int rounds) override {
    if (n < 1 || n > 46340) return wrong_value("the matrices must have 1 to 46340 rows", n);
    if (threads < 1) return wrong_value("the number of threads must be at least 1", threads);
    if (rounds < 1) return wrong_value("there must be at least 1 round", rounds);
    blas_->set_threads(threads);
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
      const std::int64_t start = measure::now_ns();
      blas_->multiply(n, n, n, 1, m.a.data(), n, m.b.data(), n, 0, m.c.data(), n);
      if (round >= 0) samples.push_back(measure::seconds_since(start));
    }
    (void)TRY(check(m, n));
    return samples;
  }

 private:
  static double next(std::uint64_t& state) { // from -1 to 1
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<double>(static_cast<std::int64_t>(state)) * 0x1p-63;
  }

  std::shared_ptr<const blas::Blas> blas_;
};

} // namespace

Result<std::unique_ptr<Gemm>> Gemm::open(const std::string& path) {
  std::shared_ptr<const blas::Blas> blas = TRY(blas::Blas::open(path, "--blas"));
  return std::unique_ptr<Gemm>(std::make_unique<Opened>(std::move(blas)));
}

} // namespace kumihimo::node_bench
