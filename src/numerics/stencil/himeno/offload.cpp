// Target directives: arrays are on the device from upload() on; sweeps copy one sum each.
#include "stencil/himeno/variants.hpp"
#include "threads/team.hpp"

#include <omp.h>

#include <utility>

namespace kumihimo::himeno::offload {
namespace {

class OffloadedGrid final : public DeviceGrid {
 public:
  explicit OffloadedGrid(HimenoGrid& grid) : g_(grid), p_(grid.p), next_(grid.next) {
    for_each_array([size = g_.size()]([[maybe_unused]] const float* array) {
#pragma omp target enter data map(to : array [0:size])
    });
  }
  ~OffloadedGrid() override {
    for_each_array([size = g_.size()]([[maybe_unused]] const float* array) {
#pragma omp target exit data map(delete : array [0:size])
    });
  }
  Status run(std::int64_t sweeps, double* gosa) override;
  Status download() override {
    [[maybe_unused]] float* const p = p_;
    const std::int64_t size = g_.size();
#pragma omp target update from(p [0:size])
    g_.p = p_, g_.next = next_;
    return Nothing{};
  }

 private:
  template <class Visit>
  void for_each_array(Visit visit) const {
    for (const float* const array : {g_.a[0], g_.a[1], g_.a[2], g_.a[3], g_.b[0], g_.b[1], g_.b[2], g_.c[0], g_.c[1],
                                     g_.c[2], g_.bnd, g_.wrk1, p_, next_})
      visit(array);
  }
  HimenoGrid& g_;
  float *p_, *next_; // the grid's; they change places
};

Status OffloadedGrid::run(std::int64_t sweeps, double* gosa) {
  const HimenoGrid& g = g_;
  const HimenoBox box = g.all();
  const std::int64_t x = g.plane(), y = g.row(), first = g.at(0, 0, 0);
  const std::int64_t I = box.end[0], J = box.end[1], K = box.end[2];
  const float *a0 = g.a[0], *a1 = g.a[1], *a2 = g.a[2], *a3 = g.a[3], *b0 = g.b[0], *b1 = g.b[1], *b2 = g.b[2];
  const float *c0 = g.c[0], *c1 = g.c[1], *c2 = g.c[2], *bnd = g.bnd, *wrk1 = g.wrk1;
  const int team = omp_get_num_devices() > 0 ? 256 : threads::count(); // of a block, or the host's
  for (std::int64_t s = 0; s < sweeps; ++s) {
    const float* const p = p_;
    float* const next = next_;
    double sum = 0;
#pragma omp target teams distribute parallel for collapse(3) num_threads(team) reduction(+ : sum) map(tofrom : sum)
    for (std::int64_t i = 0; i < I; ++i)
      for (std::int64_t j = 0; j < J; ++j)
        for (std::int64_t k = 0; k < K; ++k) {
          const std::int64_t n = first + i * x + j * y + k;
          const float s0 = a0[n] * p[n + x] + a1[n] * p[n + y] + a2[n] * p[n + 1] +
                           b0[n] * (p[n + x + y] - p[n + x - y] - p[n - x + y] + p[n - x - y]) +
                           b1[n] * (p[n + y + 1] - p[n - y + 1] - p[n + y - 1] + p[n - y - 1]) +
                           b2[n] * (p[n + x + 1] - p[n - x + 1] - p[n + x - 1] + p[n - x - 1]) + c0[n] * p[n - x] +
                           c1[n] * p[n - y] + c2[n] * p[n - 1] + wrk1[n];
          const float ss = (s0 * a3[n] - p[n]) * bnd[n];
          sum += static_cast<double>(ss) * static_cast<double>(ss);
          next[n] = p[n] + omega * ss;
        }
    gosa[s] = sum;
    std::swap(p_, next_);
  }
  return Nothing{};
}

} // namespace

Result<std::unique_ptr<DeviceGrid>> upload(HimenoGrid& grid) {
  return std::unique_ptr<DeviceGrid>(std::make_unique<OffloadedGrid>(grid));
}

} // namespace kumihimo::himeno::offload
