// kumihimo._collectives: the registry of algorithms.
#include "border.hpp"
#include "collectives/named_neighbours.hpp"
#include "collectives/registry.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

// By name; None is the algorithm's default.
Parameters parameters_of(const nb::kwargs& given) {
  Parameters p;
  for (const auto& [key, value] : given) {
    const auto name = nb::cast<std::string>(key);
    if (value.is_none()) continue;
    if (name == "default_segment_bytes")
      p.default_segment_bytes = nb::cast<std::int64_t>(value);
    else if (const ParameterDeclaration* const q = find_parameter(name))
      std::visit([&, &value = value](auto member) { p.*member = nb::cast<std::decay_t<decltype(p.*member)>>(value); },
                 q->value);
    else
      throw nb::type_error(("no parameter " + name).c_str());
  }
  return p;
}

void bind_parameters(nb::module_& m) {
  nb::class_<Parameters>(m, "Parameters", "By name; what is None takes the algorithm's default.")
      .def("__init__", [](Parameters* self, const nb::kwargs& given) { new (self) Parameters(parameters_of(given)); });
  nb::class_<ParameterDeclaration>(m, "ParameterDeclaration", "A row of parameters.def.")
      .def_ro("name", &ParameterDeclaration::name)
      .def_ro("meaning", &ParameterDeclaration::meaning)
      .def_ro("symbol", &ParameterDeclaration::symbol)
      .def_ro("min", &ParameterDeclaration::min)
      .def_ro("max", &ParameterDeclaration::max)
      .def_ro("tuning_scope", &ParameterDeclaration::tuning_scope, "The cases in which tune tries it.")
      .def_prop_ro("kind", &ParameterDeclaration::kind)
      .def_prop_ro(
          "tuning_values",
          [](const ParameterDeclaration& q) {
            std::vector<std::int64_t> values;
            for (const std::int64_t value : q.tuning_values)
              if (value != 0) values.push_back(value);
            return values;
          },
          "What tune tries beside the default.");
  m.attr("REAL_SEGMENT_BYTES") = real_segment_bytes;
  m.def(
      "declared_parameters",
      [] {
        std::vector<const ParameterDeclaration*> all;
        for (const ParameterDeclaration& q : declared_parameters) all.push_back(&q);
        return all;
      },
      nb::rv_policy::reference, "Every parameter of algorithms, in the order of parameters.def.");
}

nb::dict dict_of(const Guarantees& g) {
  nb::dict d;
  d["same_on_all_ranks"] = g.same_on_all_ranks;
  d["same_from_run_to_run"] = g.same_from_run_to_run;
  d["independent_of_placement"] = g.independent_of_placement;
  d["independent_of_rank_count"] = g.independent_of_rank_count;
  return d;
}

void bind_variant(nb::module_& m) {
  nb::class_<Variant::Parameter>(m, "Parameter")
      .def_prop_ro("name", [](const Variant::Parameter& p) { return p.parameter->name; })
      .def_prop_ro("default_value", [](const Variant::Parameter& p) { return text_of(p.default_value); });
  nb::class_<Variant>(m, "Variant", "One row of the registry: a recipe for a collective.")
      .def_ro("name", &Variant::name)
      .def_prop_ro("kind", [](const Variant& v) { return name_of(v.kind); })
      .def_ro("summary", &Variant::summary)
      .def_prop_ro("cost", [](const Variant& v) { return v.cost.text(); })
      .def_ro("reference", &Variant::reference)
      .def_ro("parameters", &Variant::parameters)
      .def_ro("extension", &Variant::extension, "Whether it is our own extension of a published algorithm.")
      .def_ro("offloads", &Variant::offloads, "Whether it needs a network's own engine, which no MPI library gives.")
      .def_ro("equal_counts", &Variant::equal_counts, "Why it needs blocks of equal counts, if it does.")
      .def_ro("all_counts", &Variant::all_counts, "Why each rank must know the counts of all blocks, if so.")
      .def_prop_ro(
          "rounding", [](const Variant& v) { return dict_of(v.rounding); },
          "What is promised of the bits of reductions that round.")
      .def(
          "guarantees", [](const Variant& v, const Collective& c) { return dict_of(v.guarantees(c)); }, "collective"_a,
          "What is promised of the bits of this collective's result.")
      .def(
          "build",
          [](const Variant& v, const Collective& collective, const RankSpace& space, const Parameters& parameters) {
            return unwrap(v.build(collective, space, parameters));
          },
          "collective"_a, "space"_a, "parameters"_a = Parameters{});
}

} // namespace
} // namespace kumihimo

NB_MODULE(_collectives, m) {
  using namespace kumihimo;
  m.doc() = "The registry of algorithms.";
  nb::module_::import_("kumihimo._topology");
  nb::module_::import_("kumihimo._schedule");
  bind_parameters(m);
  bind_variant(m);
  m.def(
      "variants", [](std::string_view kind) { return Registry::standard().variants(unwrap(parse_collective(kind))); },
      "kind"_a, nb::rv_policy::reference, "The algorithms of a collective.");
  m.def(
      "check_collective",
      [](const Collective& c, const RankSpace& space, const Parameters& parameters) {
        unwrap(check_collective(c, space, parameters));
      },
      "collective"_a, "space"_a, "parameters"_a = Parameters{}, "Refuses what is wrong whatever the algorithm.");
  m.def(
      "with_neighbours",
      [](const Collective& c, std::string_view name) {
        return unwrap(with_neighbours(c, unwrap(named_neighbours(name, c.ranks))));
      },
      "collective"_a, "neighbours"_a, "The same of other neighbours: cart:4x3m, random:7, edges:0>1,1>0.");
  m.def(
      "all_variants",
      [] {
        std::vector<const Variant*> all;
        for (const Variant& v : Registry::standard().variants()) all.push_back(&v);
        return all;
      },
      nb::rv_policy::reference, "All algorithms.");
  m.def(
      "find",
      [](std::string_view kind, std::string_view name) {
        return unwrap(Registry::standard().find(unwrap(parse_collective(kind)), name));
      },
      "kind"_a, "name"_a, nb::rv_policy::reference, "One algorithm; the error names the nearest.");
}
