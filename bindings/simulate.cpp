// kumihimo._simulate: programs of an iteration with the noise of `exact`.
#include "simulate/simulate.hpp"

#include "border.hpp"
#include "program/named_programs.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <array>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

constexpr std::array models = {Model::flow, Model::exact};

Result<Model> parse_model(std::string_view name) {
  for (Model model : models)
    if (name_of(model) == name) return model;
  return wrong_value("a model is flow or exact", name);
}

SimulateOptions options_of(std::string_view model, bool scalar_reduction, bool keep_link_bytes) {
  SimulateOptions options;
  options.model = unwrap(parse_model(model));
  options.scalar_reduction = scalar_reduction;
  options.keep_link_bytes = keep_link_bytes;
  return options;
}

void bind_prediction(nb::module_& m) {
  nb::class_<Prediction>(m, "Prediction", "The time of a collective on a machine, and where it goes.")
      .def_prop_ro("seconds", [](const Prediction& p) { return p.seconds.value; })
      .def_prop_ro("bound_seconds", [](const Prediction& p) { return p.bound().value; })
      .def_ro("limiting", &Prediction::limiting)
      .def_ro("accuracy", &Prediction::accuracy)
      .def_ro("too_long", &Prediction::too_long, "By which share of the exact time this one may be longer.")
      .def_ro("too_short", &Prediction::too_short)
      .def_ro("link_bytes", &Prediction::link_bytes)
      .def("to_json", [](const Prediction& p) { return to_json(p); });
}

} // namespace
} // namespace kumihimo

NB_MODULE(_simulate, m) {
  using namespace kumihimo;
  m.doc() = "How long a schedule takes on a machine.";
  nb::module_::import_("kumihimo._schedule");
  nb::module_::import_("kumihimo._machine");
  nb::module_::import_("kumihimo._programs");
  bind_prediction(m);
  nb::class_<Noise>(m, "Noise", "Periodic events that take the processor from a rank, with a random phase for each.")
      .def(
          "__init__",
          [](Noise* self, double events_per_second, double seconds, std::uint64_t seed) {
            const Noise noise{events_per_second, seconds, seed, {}};
            unwrap(check(noise));
            new (self) Noise(noise);
          },
          "events_per_second"_a, "seconds"_a, "seed"_a)
      .def_ro("events_per_second", &Noise::events_per_second)
      .def_ro("seconds", &Noise::seconds)
      .def_ro("seed", &Noise::seed);
  m.def(
      "simulate",
      [](const NamedPrograms& programs, const Job& job, const std::optional<Placement>& placement,
         std::string_view model, bool keep_link_bytes, const std::optional<Noise>& noise) {
        SimulateOptions options = options_of(model, false, keep_link_bytes);
        options.noise = noise;
        return unwrap(unlocked([&] { return simulate(programs.set, job, placement, options); }));
      },
      "programs"_a, "job"_a, "placement"_a = nb::none(), "model"_a = "flow", "keep_link_bytes"_a = false,
      "noise"_a = nb::none());
}
