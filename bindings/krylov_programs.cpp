// kumihimo._krylov_programs: iterations of Krylov methods as program sets.
#include "border.hpp"
#include "krylov_programs/iteration.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_krylov_programs, m) {
  using namespace kumihimo;
  using namespace kumihimo::krylov_programs;
  m.doc() = "Iterations of Krylov methods as program sets.";
  for (const char* const module : {"kumihimo._programs", "kumihimo._collectives", "kumihimo._topology"})
    nb::module_::import_(module);
  nb::class_<Iteration>(m, "Iteration", "What to iterate, on which grid of cells and ranks.")
      .def(nb::init<>())
      .def_rw("application", &Iteration::application)
      .def_rw("method", &Iteration::method)
      .def_rw("preconditioner", &Iteration::preconditioner)
      .def_rw("cells", &Iteration::cells)
      .def_rw("ranks", &Iteration::ranks)
      .def_rw("s", &Iteration::s)
      .def_rw("steps", &Iteration::steps)
      .def_rw("halos", &Iteration::halos)
      .def_rw("reductions", &Iteration::reductions)
      .def_rw("computing", &Iteration::computing);
  m.def("methods", [] {
    std::vector<std::string> names;
    for (const std::string_view each : methods()) names.emplace_back(each);
    return names;
  });
  m.def(
      "applications",
      [] {
        nb::dict all;
        for (const ModelledApplication& each : applications()) {
          nb::list preconditioners;
          for (const ModelledPreconditioner& p : each.preconditioners)
            preconditioners.append(nb::str(p.name.data(), p.name.size()));
          all[nb::str(each.name.data(), each.name.size())] = preconditioners;
        }
        return all;
      },
      "Their preconditioners by name, the default first.");
  m.def("iterations_of", &iterations_of, "iteration"_a, "Iterations that one program set makes.");
  m.def(
      "programs",
      [](const Iteration& iteration, const Variant& allreduce, const RankSpace& space) {
        return unwrap(unlocked([&] { return programs_of(iteration, allreduce, space); }));
      },
      "iteration"_a, "allreduce"_a, "space"_a);
}
