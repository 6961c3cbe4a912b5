// kumihimo._measure: statistics of measured times.
#include "measure/statistics.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo::measure {
namespace {

Comparison compare_pairs(const std::vector<std::pair<double, double>>& medians) {
  std::vector<LaunchMedians> launches;
  for (const auto& [ours, theirs] : medians) launches.push_back({ours, theirs});
  if (launches.empty()) throw nb::value_error("a comparison needs at least one launch");
  return compare(launches);
}

Summary summary_of(const std::vector<double>& samples) {
  if (samples.empty()) throw nb::value_error("a summary needs at least one sample");
  return summarise(samples);
}

double geometric_mean_of(const std::vector<double>& values) {
  if (values.empty()) throw nb::value_error("a mean needs at least one value");
  return geometric_mean(values);
}

} // namespace
} // namespace kumihimo::measure

NB_MODULE(_measure, m) {
  using namespace kumihimo::measure;
  m.doc() = "Statistics of measured times.";
  nb::class_<Comparison>(m, "Comparison", "Of two implementations over several launches.")
      .def_ro("launches", &Comparison::launches)
      .def_ro("ratio", &Comparison::ratio)
      .def_prop_ro("ratio_low", [](const Comparison& c) { return c.interval.low; })
      .def_prop_ro("ratio_high", [](const Comparison& c) { return c.interval.high; })
      .def_ro("coverage", &Comparison::coverage)
      .def("is_faster", &Comparison::is_faster, "extra"_a = 0.0,
           "Whether ours is faster with its whole interval, even if it costs `extra` times theirs more.");
  m.def("compare", &compare_pairs, "medians"_a, "From (our median, theirs) of each launch.");
  nb::class_<Summary>(m, "Summary", "Of a set of samples: the median with its 95 % interval; nothing is removed.")
      .def_ro("samples", &Summary::samples)
      .def_ro("median", &Summary::median)
      .def_prop_ro("low", [](const Summary& s) { return s.median_interval.low; })
      .def_prop_ro("high", [](const Summary& s) { return s.median_interval.high; })
      .def_ro("coverage", &Summary::coverage)
      .def_ro("outliers", &Summary::outliers);
  m.def("summarise", &summary_of, "samples"_a, "Finite values, at least one, in any order.");
  m.def("geometric_mean", &geometric_mean_of, "values"_a);
}
