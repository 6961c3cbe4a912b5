// kumihimo._fluid: graphs of operations whose messages share a machine's network as fluids.
#include "border.hpp"
#include "fluid/graphs.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace kumihimo {
namespace {

constexpr double second = 1e12; // picoseconds

fluid::Options options_of(const std::vector<std::pair<std::int32_t, goal::Time>>& deaths,
                          const std::optional<goal::NoiseModel>& noise) {
  fluid::Options options;
  options.noise = noise;
  for (const auto& [node, time] : deaths) options.deaths.push_back({node, time});
  return options;
}

fluid::Outcome simulate(const goal::Graphs& graphs, const Job& job, const std::optional<Placement>& placement,
                        const std::vector<std::pair<std::int32_t, goal::Time>>& deaths,
                        const std::optional<goal::NoiseModel>& noise) {
  return unwrap(unlocked([&] { return fluid::run(job, graphs, placement, options_of(deaths, noise)); }));
}

} // namespace
} // namespace kumihimo

NB_MODULE(_fluid, m) {
  using namespace kumihimo;
  m.doc() = "Graphs of operations whose messages share a machine's network as fluids.";
  nb::module_::import_("kumihimo._goal");
  nb::module_::import_("kumihimo._machine");
  nb::class_<fluid::ClassUse>(m, "ClassUse", "Links of a class, and the share of what they could have carried.")
      .def_ro("name", &fluid::ClassUse::name)
      .def_ro("links", &fluid::ClassUse::links)
      .def_ro("mean", &fluid::ClassUse::mean)
      .def_ro("most", &fluid::ClassUse::most);
  nb::class_<fluid::Outcome>(m, "Outcome", "The time of graphs.")
      .def_prop_ro("seconds", [](const fluid::Outcome& o) { return static_cast<double>(o.last) / second; })
      .def_ro("last_rank", &fluid::Outcome::last_rank)
      .def_ro("operations", &fluid::Outcome::operations)
      .def_ro("messages", &fluid::Outcome::messages)
      .def_ro("aftermath", &fluid::Outcome::aftermath)
      .def_ro("classes", &fluid::Outcome::classes);
  m.def("simulate", &simulate, "graphs"_a, "job"_a, "placement"_a = nb::none(),
        "deaths"_a = std::vector<std::pair<std::int32_t, goal::Time>>{}, "noise"_a = nb::none(),
        "`deaths`: node, picoseconds.");
}
