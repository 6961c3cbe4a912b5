// kumihimo._verify: proofs of schedules.
#include "verify/verify.hpp"

#include "border.hpp"
#include "verify/claims.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo::verify {
namespace {

void bind_finding(nb::module_& m) {
  nb::class_<Finding>(m, "Finding", "What is wrong, and where; a number that does not apply is -1.")
      .def_prop_ro("check", [](const Finding& f) { return name_of(f.check); })
      .def_prop_ro("rank", [](const Finding& f) { return f.place.rank; })
      .def_prop_ro("lane", [](const Finding& f) { return f.place.lane; })
      .def_prop_ro("segment", [](const Finding& f) { return f.place.segment; })
      .def_prop_ro("round", [](const Finding& f) { return f.place.round; })
      .def_prop_ro("step", [](const Finding& f) { return f.place.step; })
      .def_prop_ro("loops", [](const Finding& f) { return f.place.loops; })
      .def_ro("what", &Finding::what)
      .def_prop_ro("sentence", &Finding::sentence);
}

void bind_report(nb::module_& m) {
  nb::class_<Coverage>(m, "Coverage", "How much was looked at.")
      .def_ro("exact", &Coverage::exact)
      .def_ro("steps", &Coverage::steps)
      .def_ro("pairs", &Coverage::pairs)
      .def_ro("pairs_sampled", &Coverage::pairs_sampled)
      .def_ro("samples", &Coverage::samples)
      .def_ro("executed", &Coverage::executed)
      .def_ro("deadlock_segments", &Coverage::deadlock_segments)
      .def_ro("deadlock_shown", &Coverage::deadlock_shown)
      .def_ro("deadlock", &Coverage::deadlock)
      .def_ro("footprints", &Coverage::footprints)
      .def_ro("footprint_segments", &Coverage::footprint_segments)
      .def_ro("deliveries", &Coverage::deliveries)
      .def_ro("height", &Coverage::height);
  nb::class_<Report>(m, "Report", "What a check of a schedule has to say.")
      .def_prop_ro("ok", &Report::ok)
      .def_ro("findings", &Report::findings)
      .def_ro("coverage", &Report::coverage)
      .def("__str__", &Report::text);
}

} // namespace
} // namespace kumihimo::verify

NB_MODULE(_verify, m) {
  using namespace kumihimo;
  m.doc() = "Proofs of schedules.";
  nb::module_::import_("kumihimo._topology");
  nb::module_::import_("kumihimo._schedule");
  nb::module_::import_("kumihimo._programs");
  verify::bind_finding(m);
  verify::bind_report(m);
  m.def(
      "check",
      [](const Schedule& schedule, const RankSpace& space, std::int32_t samples, std::uint64_t seed) {
        verify::VerifyOptions options;
        options.samples = samples;
        options.seed = seed;
        return unlocked([&] { return verify::check(schedule, space, options); });
      },
      "schedule"_a, "space"_a, "samples"_a = verify::VerifyOptions{}.samples, "seed"_a = verify::VerifyOptions{}.seed);
  m.def(
      "check",
      [](const NamedPrograms& programs) { return unlocked([&] { return verify::check(verify::Subject(programs)); }); },
      "programs"_a);
  m.def(
      "is_symmetric",
      [](const Schedule& schedule, const RankSpace& space) {
        return unlocked([&] { return verify::first_asymmetric_rank(schedule, space) < 0; });
      },
      "schedule"_a, "space"_a, "Every rank's peers are rank 0's, moved by a translation of the torus.");
}
