// kumihimo._measure: statistics of measured times.
#include "measure/change_points.hpp"
#include "measure/statistics.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
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

std::pair<double, double> quantile_interval_of(std::vector<double> samples, double probability) {
  if (samples.empty() || !(probability > 0 && probability < 1))
    throw nb::value_error("an interval needs at least one sample and a probability between 0 and 1");
  std::ranges::sort(samples);
  const Interval found = quantile_interval(samples, probability);
  return {found.low, found.high};
}

double quantile_of(std::vector<double> samples, double probability) {
  if (samples.empty() || !(probability >= 0 && probability <= 1))
    throw nb::value_error("a quantile needs at least one sample and a probability from 0 to 1");
  std::ranges::sort(samples);
  return quantile(samples, probability);
}

std::vector<std::pair<std::int64_t, double>> change_points_of(const std::vector<double>& values) {
  if (!std::ranges::all_of(values, [](double x) { return std::isfinite(x); }))
    throw nb::value_error("the values of a series must be finite");
  std::vector<std::pair<std::int64_t, double>> found;
  for (const ChangePoint& change : change_points(values)) found.emplace_back(change.at, change.chance);
  return found;
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
  m.def("quantile", &quantile_of, "samples"_a, "probability"_a, "Linear between neighbouring samples.");
  m.def("quantile_interval", &quantile_interval_of, "samples"_a, "probability"_a,
        "The 95 % interval of a quantile; an end that the samples do not show is infinite.");
  m.def("change_points", &change_points_of, "values"_a,
        "Pairs (index of the first value after a change, chance of one as large in any order).");
}
