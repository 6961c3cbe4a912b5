// kumihimo._kernels: the exact sum, for tests and for those who want to check a result.
#include "kernels/exact_sum.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo::kernels {
namespace {

template <class Real>
Real exact_sum(const std::vector<Real>& values) {
  ExactSum<Real> sum{};
  for (const Real value : values) sum.add(value);
  return sum.round();
}

} // namespace
} // namespace kumihimo::kernels

NB_MODULE(_kernels, m) {
  using namespace kumihimo::kernels;
  m.doc() = "Sums that are rounded once.";
  m.def("exact_sum", exact_sum<double>, "values"_a, "Of doubles.");
  m.def("exact_sum_float32", exact_sum<float>, "values"_a, "Of floats; what is none is rounded to one first.");
}
