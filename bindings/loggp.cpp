// kumihimo._loggp: the time of graphs of operations in the model LogGOPS.
#include "border.hpp"
#include "loggp/delays.hpp"
#include "loggp/observed.hpp"
#include "loggp/of_machine.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <utility>

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_loggp, m) {
  using namespace kumihimo;
  using namespace kumihimo::loggp;
  m.doc() = "The time of graphs of operations in the model LogGOPS.";
  nb::module_::import_("kumihimo._goal");
  nb::module_::import_("kumihimo._machine");
  nb::class_<Parameters>(m, "Parameters", "L, o, g, R in picoseconds; G, O in femtoseconds a byte; S in bytes.")
      .def(nb::init<>())
      .def_ro("L", &Parameters::L)
      .def_ro("o", &Parameters::o)
      .def_ro("g", &Parameters::g)
      .def_ro("G", &Parameters::G)
      .def_ro("O", &Parameters::O)
      .def_ro("S", &Parameters::S)
      .def_ro("R", &Parameters::R)
      .def_ro("processors", &Parameters::processors);
  nb::class_<MachineParameters>(m, "MachineParameters", "The numbers of a machine file, translated.")
      .def_ro("parameters", &MachineParameters::parameters)
      .def_ro("rates", &MachineParameters::rates)
      .def_ro("hops", &MachineParameters::hops);
  nb::class_<DelayMap>(m, "Delays", "How much later than without noise: by groups of ranks and bins of time.")
      .def_prop_ro("bin_seconds", [](const DelayMap& d) { return static_cast<double>(d.bin) * 1e-12; })
      .def_ro("ranks_of_group", &DelayMap::group)
      .def_prop_ro("seconds", [](const DelayMap& d) {
        std::vector<std::vector<double>> rows(d.groups, std::vector<double>(d.bins));
        for (std::size_t at = 0; at < d.latest.size(); ++at)
          rows[at / d.bins][at % d.bins] = static_cast<double>(d.latest[at]) * 1e-12;
        return rows;
      });
  m.def(
      "delays",
      [](const goal::Graphs& graphs, const Parameters& parameters, const NoiseModel& noise, std::size_t groups,
         std::size_t bins, bool loggopsim_order) {
        if (groups == 0 || bins == 0) throw nb::value_error("groups and bins must be 1 or more");
        EngineOptions options;
        options.noise = noise, options.loggopsim_order = loggopsim_order;
        return unwrap(unlocked([&] { return delays(graphs, parameters, options, groups, bins); }));
      },
      "graphs"_a, "parameters"_a, "noise"_a, "groups"_a, "bins"_a, "loggopsim_order"_a = false);
  m.def("parameters_of", &parameters_of, "job"_a, "scalar_reduction"_a = false);
  m.def("parse_parameters", border(&parse_parameters), "text"_a, "base"_a);
  nb::class_<RankSeconds>(m, "RankSeconds", "How a rank spends its time.")
      .def_ro("end", &RankSeconds::end)
      .def_ro("computing", &RankSeconds::computing)
      .def_ro("overhead", &RankSeconds::overhead)
      .def_ro("noise", &RankSeconds::noise)
      .def_ro("waiting", &RankSeconds::waiting)
      .def_ro("operations", &RankSeconds::operations);
  nb::class_<ObservedRun>(m, "Run", "A run with the times of its ranks.")
      .def_prop_ro("seconds", [](const ObservedRun& r) { return static_cast<double>(r.outcome.last) * 1e-12; })
      .def_prop_ro("last_rank", [](const ObservedRun& r) { return r.outcome.last_rank; })
      .def_prop_ro("messages", [](const ObservedRun& r) { return r.outcome.messages; })
      .def_prop_ro("bytes", [](const ObservedRun& r) { return r.outcome.bytes; })
      .def_ro("timeline", &ObservedRun::timeline)
      .def_ro("left_out", &ObservedRun::left_out)
      .def_ro("aftermath", &ObservedRun::aftermath)
      .def("of_rank", &ObservedRun::of_rank, "rank"_a)
      .def("busiest_receiver", &ObservedRun::busiest_receiver,
           "The rank that receives most messages more than it sends, and how many more.")
      .def("mean", &ObservedRun::mean);
  m.def(
      "run",
      [](const goal::Graphs& graphs, const Parameters& parameters, const std::optional<NoiseModel>& noise,
         bool timeline, bool loggopsim_order, goal::Deaths deaths) {
        EngineOptions options;
        options.noise = noise, options.loggopsim_order = loggopsim_order, options.deaths = std::move(deaths);
        return unwrap(unlocked([&] { return run_observed(graphs, parameters, options, timeline); }));
      },
      "graphs"_a, "parameters"_a, "noise"_a = nb::none(), "timeline"_a = false, "loggopsim_order"_a = false,
      "deaths"_a = goal::Deaths{}, "`deaths`: when each rank dies, in picoseconds; empty: none does.");
  m.attr("never") = goal::never;
}
