// kumihimo._loggp: parameters of LogGOPS, and what its runs tell.
#include "border.hpp"
#include "loggp/delays.hpp"
#include "loggp/parameters.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

NB_MODULE(_loggp, m) {
  using namespace kumihimo;
  using namespace kumihimo::loggp;
  m.doc() = "Parameters of LogGOPS, and what its runs tell.";
  nb::class_<LogGopsParameters>(m, "Parameters", "L, o, g, R in picoseconds; G, O in femtoseconds a byte; S in bytes.")
      .def_ro("L", &LogGopsParameters::L)
      .def_ro("o", &LogGopsParameters::o)
      .def_ro("g", &LogGopsParameters::g)
      .def_ro("G", &LogGopsParameters::G)
      .def_ro("O", &LogGopsParameters::O)
      .def_ro("S", &LogGopsParameters::S)
      .def_ro("R", &LogGopsParameters::R)
      .def_ro("processors", &LogGopsParameters::processors);
  nb::class_<DelayMap>(m, "Delays", "How much later than without noise: by groups of ranks and bins of time.")
      .def_prop_ro("bin_seconds", [](const DelayMap& d) { return static_cast<double>(d.bin) * 1e-12; })
      .def_ro("ranks_of_group", &DelayMap::group)
      .def_prop_ro("seconds", [](const DelayMap& d) {
        std::vector<std::vector<double>> rows(d.groups, std::vector<double>(d.bins));
        for (std::size_t at = 0; at < d.latest.size(); ++at)
          rows[at / d.bins][at % d.bins] = static_cast<double>(d.latest[at]) * 1e-12;
        return rows;
      });
}
